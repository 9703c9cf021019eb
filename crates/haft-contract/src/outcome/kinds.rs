//! The one table of error kinds: code, whether a retry makes sense, next step, foreign names.
//!
//! Prompts and programs already use four older vocabularies. Each kind has its name in all of them
//! here, so a dialect is a column and not a second table.
//!
//! Not here: the sentence of a particular error (`error`).

/// What went wrong, for programs. People and models read the sentence instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// What came in is not a call at all.
    BadCall,
    /// There is no tool of that name.
    UnknownTool,
    /// The arguments cannot be read or do not fit the schema.
    BadArguments,
    /// The tool is listed but cannot be used here.
    Unavailable,
    /// The call needs a yes from a person, and no person answered.
    NeedsApproval,
    /// A rule said no.
    Denied,
    /// A person said no.
    Declined,
    /// The same was read in this turn already and has not changed.
    Redundant,
    /// The path does not exist.
    MissingFile,
    /// The path is a folder where a file is needed.
    IsFolder,
    /// The path is not a folder where one is needed.
    NotAFolder,
    /// The path is no regular file: a pipe, a socket, a device.
    SpecialFile,
    /// The path itself cannot be used, for instance because it holds a NUL.
    BadPath,
    /// The path exists where a new one is wanted.
    AlreadyExists,
    /// The file is larger than the profile allows.
    TooLarge,
    /// The file is not text.
    Binary,
    /// The text cannot be decoded and encoded again without loss.
    BadEncoding,
    /// The system does not let this user do it.
    Permission,
    /// The file changed since it was read or shown.
    Stale,
    /// Another writer changed the same files while a command ran, and none of its changes could be committed.
    Conflict,
    /// The file must be read before it is overwritten.
    NotRead,
    /// The text to replace does not occur.
    NoMatch,
    /// The text to replace occurs more than once.
    Ambiguous,
    /// Two edits touch the same text.
    Overlap,
    /// The text to replace is empty.
    EmptyOld,
    /// Nothing would change.
    NoChange,
    /// The system failed to read or write.
    Io,
    /// The tool ran and did not work.
    Failed,
    /// The call took longer than it may.
    TimedOut,
    /// The call was stopped.
    Cancelled,
    /// A defect in haft or in a tool.
    Bug,
}

/// What is the same for all errors of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindFacts {
    /// The kind.
    pub kind: ErrorKind,
    /// Its name in records.
    pub code: &'static str,
    /// Whether the same call may work later without any change.
    pub retry: Retry,
    /// What to do next when the error itself does not know better.
    pub next: &'static str,
    /// The class in TunaCode.
    pub tunacode: &'static str,
    /// The `error_type` in Code-Ally.
    pub ally: &'static str,
    /// The `blocked_by` in wyrmspire/agent.
    pub wyrm: &'static str,
    /// The error type in NexAU.
    pub nexau: &'static str,
}

/// Whether sending the very same call again makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same call may work later.
    Later,
    /// Only another call can work.
    Changed,
    /// No call of this kind will work.
    Never,
}

/// The vocabularies that kinds are translated into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// Exception classes of TunaCode.
    Tunacode,
    /// `error_type` values of Code-Ally.
    Ally,
    /// `blocked_by` values of wyrmspire/agent.
    Wyrm,
    /// Error types of NexAU.
    Nexau,
}

impl ErrorKind {
    /// Returns what is the same for all errors of this kind.
    pub fn facts(self) -> &'static KindFacts {
        // The table is in the order of the enum, which a test checks.
        &TABLE[self as usize]
    }

    /// Returns the name of the kind in records.
    pub fn code(self) -> &'static str {
        self.facts().code
    }

    /// Finds the kind by its name in records.
    pub fn from_code(code: &str) -> Option<Self> {
        TABLE.iter().find(|facts| facts.code == code).map(|facts| facts.kind)
    }

    /// Returns the name of the kind in another vocabulary.
    pub fn name_in(self, vocabulary: Vocabulary) -> &'static str {
        self.facts().name_in(vocabulary)
    }

    /// Returns every kind that has this name in another vocabulary.
    pub fn from_name_in(vocabulary: Vocabulary, name: &str) -> impl Iterator<Item = ErrorKind> {
        TABLE.iter().filter(move |facts| facts.name_in(vocabulary) == name).map(|facts| facts.kind)
    }

    /// Returns all kinds.
    pub fn all() -> impl Iterator<Item = ErrorKind> {
        TABLE.iter().map(|facts| facts.kind)
    }

    /// Returns whether the call was refused, which is not the same as failed.
    pub fn is_refusal(self) -> bool {
        matches!(self, ErrorKind::NeedsApproval | ErrorKind::Denied | ErrorKind::Declined | ErrorKind::Redundant)
    }
}

impl KindFacts {
    fn name_in(&self, vocabulary: Vocabulary) -> &'static str {
        match vocabulary {
            Vocabulary::Tunacode => self.tunacode,
            Vocabulary::Ally => self.ally,
            Vocabulary::Wyrm => self.wyrm,
            Vocabulary::Nexau => self.nexau,
        }
    }
}

macro_rules! kinds {
    ($($kind:ident $code:literal $retry:ident $next:literal | $tunacode:literal $ally:literal $wyrm:literal $nexau:literal)*) => {
        static TABLE: &[KindFacts] = &[$(KindFacts {
            kind: ErrorKind::$kind, code: $code, retry: Retry::$retry, next: $next,
            tunacode: $tunacode, ally: $ally, wyrm: $wyrm, nexau: $nexau,
        }),*];
    };
}

#[rustfmt::skip]
kinds! {
    BadCall       "bad_call"       Changed "send one JSON object with \"name\" and \"arguments\""                 | "ValidationError"    "validation_error" "runtime"    "INVALID_TOOL_CALL"
    UnknownTool   "unknown_tool"   Changed "call one of the listed tools"                                         | "ModelRetry"         "validation_error" "missing"    "TOOL_NOT_FOUND"
    BadArguments  "bad_arguments"  Changed "send the call again with arguments that fit the schema"               | "ValidationError"    "validation_error" "runtime"    "INVALID_PARAMETERS"
    Unavailable   "unavailable"    Never   "use another tool"                                                     | "ToolExecutionError" "system_error"     "runtime"    "TOOL_UNAVAILABLE"
    NeedsApproval "needs_approval" Never   "ask the user to allow it"                                             | "UserAbortError"     "permission_error" "permission" "PERMISSION_REQUIRED"
    Denied        "denied"         Never   "choose a way that the rule permits, or ask the user"                  | "ToolExecutionError" "security_error"   "rules"      "PERMISSION_DENIED"
    Declined      "declined"       Never   "do not repeat it; ask the user how to go on"                          | "UserAbortError"     "permission_error" "permission" "USER_DECLINED"
    Redundant     "redundant"      Never   "use the earlier result"                                               | "ModelRetry"         "validation_error" "rules"      "REDUNDANT_CALL"
    MissingFile   "missing_file"   Changed "list the folder and use a path that exists"                           | "ModelRetry"         "user_error"       "missing"    "FILE_NOT_FOUND"
    IsFolder      "is_folder"      Changed "list the folder, then name a file in it"                              | "FileOperationError" "user_error"       "runtime"    "PATH_IS_DIRECTORY"
    NotAFolder    "not_a_folder"   Changed "name a folder"                                                        | "FileOperationError" "user_error"       "runtime"    "PATH_IS_NOT_A_DIRECTORY"
    SpecialFile   "special_file"   Never   "name a regular file"                                                  | "FileOperationError" "user_error"       "runtime"    "READ_ERROR"
    BadPath       "bad_path"       Changed "write the path relative to the workspace"                             | "ModelRetry"         "validation_error" "workspace"  "INVALID_FILE_PATH"
    AlreadyExists "already_exists" Changed "edit the file, or choose another name"                                | "ModelRetry"         "user_error"       "runtime"    "ATTEMPT_TO_CREATE_EXISTING_FILE"
    TooLarge      "too_large"      Changed "ask for a part of it"                                                 | "ToolExecutionError" "user_error"       "runtime"    "FILE_TOO_LARGE"
    Binary        "binary"         Never   "use a program that understands this kind of file"                     | "FileOperationError" "user_error"       "runtime"    "BINARY_FILE"
    BadEncoding   "bad_encoding"   Never   "convert the file to UTF-8 first"                                      | "FileOperationError" "user_error"       "runtime"    "READ_ERROR"
    Permission    "permission"     Never   "ask the user to change the file's permissions"                        | "FileOperationError" "permission_error" "permission" "PERMISSION_DENIED"
    Stale         "stale"          Changed "read the file again, then repeat the change"                          | "ModelRetry"         "user_error"       "runtime"    "FILE_CHANGED"
    Conflict      "conflict"       Changed "compare both versions and make the change again"                      | "ModelRetry"         "user_error"       "runtime"    "FILE_CHANGED"
    NotRead       "not_read"       Changed "read the file first"                                                  | "ModelRetry"         "user_error"       "runtime"    "FILE_NOT_READ"
    NoMatch       "no_match"       Changed "read the file and copy the text to replace exactly"                   | "ModelRetry"         "user_error"       "runtime"    "EDIT_NO_OCCURRENCE_FOUND"
    Ambiguous     "ambiguous"      Changed "add lines before or after the text so that it occurs once"            | "ModelRetry"         "user_error"       "runtime"    "EDIT_EXPECTED_OCCURRENCE_MISMATCH"
    Overlap       "overlap"        Changed "join the two edits into one"                                          | "ModelRetry"         "user_error"       "runtime"    "EDIT_PREPARATION_FAILURE"
    EmptyOld      "empty_old"      Changed "name the text to replace"                                             | "ModelRetry"         "validation_error" "runtime"    "EDIT_PREPARATION_FAILURE"
    NoChange      "no_change"      Changed "go on; the file already has this text"                                | "ModelRetry"         "user_error"       "runtime"    "EDIT_NO_CHANGE"
    Io            "io"             Later   "try once more; if it fails again, tell the user"                      | "FileOperationError" "system_error"     "runtime"    "FILE_WRITE_FAILURE"
    Failed        "failed"         Changed "read the message and change the call"                                 | "ToolExecutionError" "system_error"     "runtime"    "TOOL_EXECUTION_ERROR"
    TimedOut      "timed_out"      Changed "do less in one call, or allow more time"                              | "ToolExecutionError" "system_error"     "runtime"    "TIMEOUT"
    Cancelled     "cancelled"      Later   "wait for the user"                                                    | "UserAbortError"     "user_error"       "runtime"    "CANCELLED"
    Bug           "bug"            Never   "tell the user that this tool has a defect"                             | "ToolExecutionError" "system_error"     "runtime"    "INTERNAL_ERROR"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_row() {
        for (index, facts) in TABLE.iter().enumerate() {
            assert_eq!(facts.kind as usize, index, "{} is out of order", facts.code);
            assert_eq!(ErrorKind::from_code(facts.code), Some(facts.kind));
            assert_eq!(facts.kind.facts(), facts);
        }
        assert_eq!(ErrorKind::Bug as usize, TABLE.len() - 1);
    }

    #[test]
    fn every_kind_is_found_again_by_its_name_in_each_vocabulary() {
        use Vocabulary::*;
        for vocabulary in [Tunacode, Ally, Wyrm, Nexau] {
            for kind in ErrorKind::all() {
                let name = kind.name_in(vocabulary);
                assert!(ErrorKind::from_name_in(vocabulary, name).any(|found| found == kind), "{name}");
            }
        }
    }

    #[test]
    fn the_classes_of_tunacode_are_those_of_its_documents() {
        use ErrorKind::*;
        let classes: [(&str, &[ErrorKind]); 5] = [
            ("ModelRetry", &[MissingFile, AlreadyExists, NoMatch, UnknownTool]),
            ("FileOperationError", &[IsFolder, Binary, BadEncoding, Permission, Io]),
            ("ToolExecutionError", &[Denied, Failed, TimedOut, Bug]),
            ("UserAbortError", &[NeedsApproval, Declined, Cancelled]),
            ("ValidationError", &[BadCall, BadArguments]),
        ];
        for (class, kinds) in classes {
            for kind in kinds {
                assert_eq!(kind.name_in(Vocabulary::Tunacode), class, "{kind:?}");
            }
        }
    }

    #[test]
    fn foreign_names_are_words_of_the_foreign_vocabulary() {
        for facts in TABLE {
            assert!(
                ["ModelRetry", "ToolExecutionError", "FileOperationError", "UserAbortError", "ValidationError"]
                    .contains(&facts.tunacode)
            );
            assert!(
                ["validation_error", "user_error", "system_error", "permission_error", "security_error"]
                    .contains(&facts.ally)
            );
            assert!(["rules", "workspace", "missing", "runtime", "permission"].contains(&facts.wyrm));
            assert!(facts.nexau.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        }
    }

    #[test]
    fn each_word_of_code_ally_is_for_the_kinds_that_it_means() {
        use ErrorKind::*;
        for (word, kinds) in [
            ("validation_error", &[BadCall, UnknownTool, BadArguments, BadPath][..]),
            ("user_error", &[MissingFile, IsFolder, Stale, NotRead, NoMatch][..]),
            ("system_error", &[Io, Failed, TimedOut, Bug][..]),
            ("permission_error", &[NeedsApproval, Declined, Permission][..]),
            ("security_error", &[Denied][..]),
        ] {
            for kind in kinds {
                assert_eq!(kind.name_in(Vocabulary::Ally), word, "{kind:?}");
            }
        }
    }
}
