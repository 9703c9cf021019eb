//! `haft models`: which models can be used here, where they were found, and which one `haft run` would take.

use futures_util::future::join_all;
use haft_config::model::ModelSection;
use haft_config::settings::Settings;
use serde_json::{Value, json};

use crate::agent::flags::ModelFlags;
use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, Part};
use haft_host::bounded_text::{one_line_of, paragraph};
use haft_host::host::block_on;
use haft_host::model::choice::{Choice, Chosen, Models, Place};

/// Longest name of a model, in columns.
const LONGEST_NAME: usize = 120;

/// A place, and what it said.
struct Asked {
    place: Place,
    models: Models,
}

/// Runs the command.
pub(crate) fn run(common: &Common, flags: &ModelFlags) -> anyhow::Result<Exit> {
    let settings = Settings::read(common.options().profile())?;
    let choice = Choice::new(flags.said(), &settings, ModelSection::default())?;
    let places = choice.places()?;
    let (places, chosen) = block_on(async {
        let asked = places.into_iter().map(|place| async {
            let models = choice.models_of(&place).await;
            Asked { place, models }
        });
        let places: Vec<Asked> = join_all(asked).await;
        // Nobody on a usual port of this machine is no news.
        let is_there = |asked: &Asked| asked.models.is_ok() || !asked.place.is_local() || asked.place.key.is_some();
        (places.into_iter().filter(is_there).collect::<Vec<_>>(), choice.made().await)
    })?;
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

fn show(asked: &Asked) -> anyhow::Result<()> {
    let place = &asked.place;
    let about = format!("  {}, {}, {}", place.base_url, place.wire.name(), place.from());
    screen::line(&[Part::Strong(&place.name), Part::Faint(&about)])?;
    match &asked.models {
        Ok(models) if models.is_empty() => screen::line(&[Part::Faint("  no models")])?,
        Ok(models) => {
            for model in models {
                screen::line(&[Part::Plain("  "), Part::Plain(&one_line_of(model, LONGEST_NAME))])?;
            }
        }
        Err(why) => screen::line(&[Part::Bad("  "), Part::Bad(&paragraph(why))])?,
    }
    Ok(())
}

fn record(places: &[Asked], chosen: &anyhow::Result<Chosen>) -> Value {
    let place = |asked: &Asked| {
        let Place { name, wire, base_url, .. } = &asked.place;
        let mut record =
            json!({ "provider": name, "wire": wire.name(), "base_url": base_url, "from": asked.place.from() });
        match &asked.models {
            Ok(models) => record["models"] = models.clone().into(),
            Err(why) => record["error"] = why.as_str().into(),
        }
        record
    };
    let mut record = json!({ "v": 1, "providers": places.iter().map(place).collect::<Vec<_>>() });
    match chosen {
        Ok(Chosen { endpoint, .. }) => {
            record["chosen"] =
                json!({ "model": endpoint.model, "wire": endpoint.wire.name(), "base_url": endpoint.base_url });
        }
        Err(error) => record["needs"] = format!("{error:#}").into(),
    }
    record
}
