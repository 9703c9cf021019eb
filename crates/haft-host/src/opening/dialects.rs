//! Finds the dialect to use: one of haft's own, one of the user's, or one of a trusted project.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use haft_contract::description::dialect::Dialect;
use haft_contract::text::closest::closest;
use haft_tools::dialect::{CheckedDialect, NAMES, check, named};
use haft_workspace::state::{list_config_folder, read_config_file};

use super::project_files::ProjectFiles;
use crate::options::Options;

/// Returns the dialect that the command line names; nothing where it is haft's own way. The user's own counts before that of a project.
pub fn chosen_dialect(
    options: &Options,
    config: &Path,
    loaded: Option<&ProjectFiles>,
) -> anyhow::Result<Option<Arc<dyn Dialect>>> {
    if options.own_dialect.is_some() {
        return Ok(options.own_dialect.clone());
    }
    let Some(name) = options.dialect.as_deref() else { return Ok(None) };
    if NAMES.contains(&name) {
        return Ok(named(name));
    }
    let file_name = format!("{name}.toml");
    let own = config.join("dialects").join(&file_name);
    let text = read_config_file(&own).with_context(|| format!("{} cannot be read", own.display()))?;
    let of_project = loaded.into_iter().flat_map(|loaded| &loaded.dialects);
    let mut of_project = of_project.filter(|(path, _)| path.rsplit('/').next() == Some(file_name.as_str()));
    match text.map(|text| (own.display().to_string(), text)).or_else(|| of_project.next().cloned()) {
        Some((file, text)) => read(name, &file, &text).map(Some),
        None => bail!("{}", unknown(name, config, loaded)),
    }
}

/// Returns the dialects of the user and of a project that is trusted; a file with mistakes is none.
pub fn own_dialects(config: &Path, loaded: &ProjectFiles) -> Vec<Arc<dyn Dialect>> {
    let files = list_config_folder(&config.join("dialects")).ok().flatten().unwrap_or_default();
    let own = files.into_iter().filter_map(|path| Some((path.clone(), read_config_file(&path).ok()??)));
    let of_project = loaded.dialects.iter().map(|(path, text)| (path.into(), text.clone()));
    let all = own.chain(of_project).filter(|(path, _)| path.extension().is_some_and(|end| end == "toml"));
    all.filter_map(|(path, text)| check(path.file_stem()?.to_str()?, &text).dialect).collect()
}

fn read(name: &str, file: &str, text: &str) -> anyhow::Result<Arc<dyn Dialect>> {
    let CheckedDialect { dialect, problems } = check(name, text);
    dialect.with_context(|| {
        let grave = problems.iter().filter(|problem| !problem.is_warning);
        let told =
            grave.map(|problem| format!("{file}:{}: {}; {}", problem.line.unwrap_or(1), problem.what, problem.fix));
        told.collect::<Vec<_>>().join("\n")
    })
}

fn unknown(name: &str, config: &Path, loaded: Option<&ProjectFiles>) -> String {
    let own = list_config_folder(&config.join("dialects")).ok().flatten().unwrap_or_default();
    let own = own.iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let own = own.filter_map(|path| path.file_stem()?.to_str().map(str::to_owned));
    let of_project = loaded.into_iter().flat_map(|loaded| &loaded.dialects);
    let of_project =
        of_project.filter_map(|(path, _)| path.rsplit('/').next()?.strip_suffix(".toml").map(str::to_owned));
    let all: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).chain(own).chain(of_project).collect();
    let near = closest(name, all.iter().map(String::as_str));
    let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    let place = config.join("dialects").join(format!("{name}.toml"));
    format!(
        "there is no such dialect; choose one of {}{near}; or write your own in {}",
        all.join(", "),
        place.display()
    )
}
