//! `haft models`: lists the usable models, where haft found them, and the one that `haft run` would use.

use haft_config::sections::model::ModelSection;
use haft_config::settings::Settings;

use crate::agent::flags::ModelFlags;
use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::host::block_on;
use haft_host::opening::model::asked::{AskedPlace, record};
use haft_host::opening::model::choice::Choice;
use haft_host::texts::bounded_text::{one_line_of, paragraph};

/// Longest name of a model, in columns.
const LONGEST_NAME: usize = 120;

/// Runs the command.
pub(crate) fn run(common: &Common, flags: &ModelFlags) -> anyhow::Result<Exit> {
    let settings = Settings::read(common.options().profile())?;
    let choice = Choice::new(flags.said(), &settings, ModelSection::default())?;
    let places = choice.places()?;
    let (places, chosen) = block_on(async { (AskedPlace::ask_all(&choice, places).await, choice.made().await) })?;
    if common.json {
        screen::record(&record(&places, &chosen).to_string())?;
        return Ok(Exit::Ok);
    }
    for asked in &places {
        show(asked)?;
    }
    match chosen {
        Ok(chosen) => {
            let model = one_line_of(&chosen.endpoint.model, LONGEST_NAME);
            screen::talk(&format!("haft run would use {model} at {}", chosen.from));
        }
        Err(error) => screen::talk(&format!("haft run cannot start yet: {}", paragraph(&format!("{error:#}")))),
    }
    Ok(Exit::Ok)
}

fn show(asked: &AskedPlace) -> anyhow::Result<()> {
    let place = &asked.place;
    let about = format!("  {}, {}, {}", place.base_url, place.wire.name(), place.from());
    screen::line(&[StyledText::Strong(&place.name), StyledText::Faint(&about)])?;
    match &asked.models {
        Ok(models) if models.is_empty() => screen::line(&[StyledText::Faint("  no models")])?,
        Ok(models) => {
            for model in models {
                screen::line(&[StyledText::Plain("  "), StyledText::Plain(&one_line_of(model, LONGEST_NAME))])?;
            }
        }
        Err(why) => screen::line(&[StyledText::Bad("  "), StyledText::Bad(&paragraph(why))])?,
    }
    Ok(())
}
