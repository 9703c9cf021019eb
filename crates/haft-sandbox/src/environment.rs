//! The environment of a command: what every command has, and what its tool adds.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use haft_contract::doors::process::{CommandSpec, Staging};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

/// Variables by which programs find their files, which are those of the sandbox.
const GUARDED: [&str; 10] = [
    "HOME",
    "PATH",
    "TMPDIR",
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "NIS_PATH",
    "LOCPATH",
    "GLIBC_TUNABLES",
    "HAFT_COMMAND",
];
/// Those by which the linker loads what it is told.
const OF_THE_LINKER: &str = "LD_";

/// One environment.
pub(crate) type Variables = Vec<(OsString, OsString)>;

/// Adds variables to those that every command has. What keeps the sandbox stays as the settings have it.
pub(crate) fn with(settings: &[(OsString, OsString)], added: &[(OsString, OsString)]) -> Result<Variables, ToolError> {
    let mut all = settings.to_vec();
    for (name, value) in added {
        refuse_odd(name, value)?;
        let is_as_set = settings.iter().any(|one| *one == (name.clone(), value.clone()));
        if is_guarded(name) && !is_as_set {
            return Err(guarded(name));
        }
        all.retain(|(other, _)| other != name);
        all.push((name.clone(), value.clone()));
    }
    Ok(all)
}

/// Variables with their values.
type VariableList<'a> = &'a [(OsString, OsString)];

/// Returns the variables of a command. A job over a layer has those that let file watchers poll, where they are not set.
pub(crate) fn of_command(
    (usual, of_jobs): (VariableList<'_>, VariableList<'_>),
    command: &CommandSpec,
    ground: &dyn Staging,
) -> Result<Variables, ToolError> {
    let mut all = with(usual, &command.environment)?;
    if command.code.is_some() {
        all.extend(of_copied_code());
    }
    if command.stays && ground.roots().iter().any(|root| root.layer.is_some()) {
        for (name, value) in of_jobs {
            if all.iter().all(|(other, _)| other != name) {
                all.push((name.clone(), value.clone()));
            }
        }
    }
    Ok(all)
}

/// Returns what programs need where the code of a project is a copy.
fn of_copied_code() -> Variables {
    vec![
        // The copy is mounted over folders of the project, and git stops looking for its repository at a mount.
        ("GIT_DISCOVERY_ACROSS_FILESYSTEM".into(), "1".into()),
        // What lies compiled beside a module in the project may be planted.
        ("PYTHONPYCACHEPREFIX".into(), "/tmp/.haft-pycache".into()),
    ]
}

/// Lets variables lead elsewhere, whatever they were.
pub(crate) fn lead(environment: &mut Variables, elsewhere: &[(OsString, OsString)]) {
    environment.retain(|(name, _)| !elsewhere.iter().any(|(other, _)| other == name));
    environment.extend_from_slice(elsewhere);
}

fn is_guarded(name: &OsStr) -> bool {
    GUARDED.iter().any(|guarded| name == *guarded) || name.as_bytes().starts_with(OF_THE_LINKER.as_bytes())
}

fn refuse_odd(name: &OsStr, value: &OsStr) -> Result<(), ToolError> {
    let shown = name.to_string_lossy();
    let why = match (name.as_bytes(), value.as_bytes()) {
        (b"", _) => "has no name",
        (name, _) if name.contains(&b'=') => "has a \"=\" in its name",
        (name, value) if name.contains(&0) || value.contains(&0) => "contains a NUL character",
        _ => return Ok(()),
    };
    let what = format!("A variable of the command {why} ({shown:?}). It was not run.");
    Err(ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(MEND.into())))
}

fn guarded(name: &OsStr) -> ToolError {
    let what = format!(
        "The tool sets the variable {:?}, which is the sandbox's own: programs are found by it, or loaded. The command \
         was not run.",
        name.to_string_lossy()
    );
    ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(MEND.into()))
}

const MEND: &str = "ask the user to give the variable another name where the tool is defined";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(added: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let pairs = |pairs: &[(&str, &str)]| -> Variables {
            pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
        };
        let all =
            with(&pairs(&[("PATH", "/bin"), ("LANG", "C")]), &pairs(added)).map_err(|error| error.what.clone())?;
        Ok(all.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect())
    }

    #[test]
    fn variables_are_added_and_take_the_place_of_harmless_ones() {
        let all = check(&[("A", "1"), ("LANG", "de"), ("A", "2=3"), ("EMPTY", "")]);
        assert_eq!(all.unwrap(), ["PATH=/bin", "LANG=de", "A=2=3", "EMPTY="]);
    }

    #[test]
    fn what_keeps_the_sandbox_is_only_what_the_settings_say() {
        assert_eq!(check(&[("PATH", "/bin")]).unwrap(), ["LANG=C", "PATH=/bin"]);
        for name in ["PATH", "HOME", "TMPDIR", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "HAFT_COMMAND"] {
            let refused = check(&[(name, "/elsewhere")]).unwrap_err();
            assert!(refused.contains(&format!("{name:?}")) && refused.contains("was not run"), "{refused}");
        }
    }

    #[test]
    fn odd_names_and_values_are_refused() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")] {
            assert!(check(&[(name, value)]).unwrap_err().starts_with("A variable of the command"), "{name:?}");
        }
    }
}
