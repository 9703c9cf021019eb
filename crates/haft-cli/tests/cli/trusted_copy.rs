//! Trusted code runs from the copy that was taken at `haft trust`: what changes a helper changes nothing that runs.

use std::os::unix::fs::{PermissionsExt, symlink};

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::{Place, put};

/// Names and contents of files.
type Files = &'static [(&'static str, &'static str)];

/// A way in which trusted code reaches a helper of the project.
struct Way {
    name: &'static str,
    /// What the hook or the tool runs.
    runs: &'static str,
    files: Files,
    /// The file that is changed.
    helper: &'static str,
    /// What must be installed.
    needs: &'static str,
}

/// Each helper says "good"; what it says in the end goes to the errors of the hook, or is what the tool answers.
const WAYS: &[Way] = &[
    Way {
        name: "source beside the script",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", ". \"$(dirname \"$0\")/lib.sh\"\n"), ("scripts/lib.sh", "echo good\n")],
        helper: "scripts/lib.sh",
        needs: "sh",
    },
    Way {
        name: "source by a name that is put together",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", ". \"$(dirname \"$0\")/l$(echo ib).sh\"\n"), ("scripts/lib.sh", "echo good\n")],
        helper: "scripts/lib.sh",
        needs: "sh",
    },
    Way {
        name: "source everything in a folder",
        runs: "sh scripts/check.sh",
        files: &[
            ("scripts/check.sh", "for f in \"$(dirname \"$0\")\"/lib.d/*; do . \"$f\"; done\n"),
            ("scripts/lib.d/a", "echo good\n"),
        ],
        helper: "scripts/lib.d/a",
        needs: "sh",
    },
    Way {
        name: "source from the working directory",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", ". tools/lib.sh\n"), ("tools/lib.sh", "echo good\n")],
        helper: "tools/lib.sh",
        needs: "sh",
    },
    Way {
        name: "source through the project's variable",
        runs: "sh \"$HAFT_PROJECT_DIR\"/scripts/check.sh",
        files: &[("scripts/check.sh", ". \"$PWD/tools/lib.sh\"\n"), ("tools/lib.sh", "echo good\n")],
        helper: "tools/lib.sh",
        needs: "sh",
    },
    Way {
        name: "source in the root of the project",
        runs: "sh check.sh",
        files: &[("check.sh", ". ./lib.sh\n"), ("lib.sh", "echo good\n")],
        helper: "lib.sh",
        needs: "sh",
    },
    Way {
        name: "a script that another one calls",
        runs: "sh scripts/check.sh",
        files: &[
            ("scripts/check.sh", "sh other/child.sh\n"),
            ("other/child.sh", ". more/lib.sh\n"),
            ("more/lib.sh", "echo good\n"),
        ],
        helper: "more/lib.sh",
        needs: "sh",
    },
    Way {
        name: "a program without an ending",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", "bin/say\n"), ("bin/say", "#!/bin/sh\necho good\n")],
        helper: "bin/say",
        needs: "sh",
    },
    Way {
        name: "a makefile",
        runs: "make -s check",
        files: &[("Makefile", "check:\n\t@echo good; true\n")],
        helper: "Makefile",
        needs: "make",
    },
    Way {
        name: "import of a sibling",
        runs: "python3 scripts/check.py",
        files: &[("scripts/check.py", "import helper\nprint(helper.WORD)\n"), ("scripts/helper.py", "WORD = 'good'\n")],
        helper: "scripts/helper.py",
        needs: "python3",
    },
    Way {
        name: "import relative to a package",
        runs: "python3 -m pkg.check",
        files: &[
            ("pkg/__init__.py", ""),
            ("pkg/check.py", "from .helper import WORD\nprint(WORD)\n"),
            ("pkg/helper.py", "WORD = 'good'\n"),
        ],
        helper: "pkg/helper.py",
        needs: "python3",
    },
    Way {
        name: "import of the package above",
        runs: "python3 -m pkg.sub.check",
        files: &[
            ("pkg/__init__.py", ""),
            ("pkg/sub/__init__.py", ""),
            ("pkg/sub/check.py", "from ..helper import WORD\nprint(WORD)\n"),
            ("pkg/helper.py", "WORD = 'good'\n"),
        ],
        helper: "pkg/helper.py",
        needs: "python3",
    },
    Way {
        name: "importlib with a name that is put together",
        runs: "python3 scripts/check.py",
        files: &[
            ("scripts/check.py", "import importlib\nprint(importlib.import_module('hel' + 'per').WORD)\n"),
            ("scripts/helper.py", "WORD = 'good'\n"),
        ],
        helper: "scripts/helper.py",
        needs: "python3",
    },
    Way {
        name: "exec of a file in the working directory",
        runs: "python3 scripts/check.py",
        files: &[
            ("scripts/check.py", "exec(open('tools/helper.py').read())\nprint(WORD)\n"),
            ("tools/helper.py", "WORD = 'good'\n"),
        ],
        helper: "tools/helper.py",
        needs: "python3",
    },
    Way {
        name: "exec of a file beside the script",
        runs: "python3 scripts/check.py",
        files: &[
            (
                "scripts/check.py",
                "import os\nexec(open(os.path.dirname(__file__) + '/help' + 'er.txt').read())\nprint(WORD)\n",
            ),
            ("scripts/helper.txt", "WORD = 'good'\n"),
        ],
        helper: "scripts/helper.txt",
        needs: "python3",
    },
    Way {
        name: "require without an ending",
        runs: "node scripts/check.js",
        files: &[
            ("scripts/check.js", "console.log(require('../lib/word'))\n"),
            ("lib/word.js", "module.exports = 'good'\n"),
        ],
        helper: "lib/word.js",
        needs: "node",
    },
    Way {
        name: "source of a file with another ending",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", ". conf/policy.inc\n"), ("conf/policy.inc", "echo good\n")],
        helper: "conf/policy.inc",
        needs: "sh",
    },
    Way {
        name: "a script without an ending",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", "sh sub/run\n"), ("sub/run", "echo good\n")],
        helper: "sub/run",
        needs: "sh",
    },
    Way {
        name: "a folder in a variable",
        runs: "sh scripts/check.sh",
        files: &[("scripts/check.sh", "D=lib; . \"$D/policy.sh\"\n"), ("lib/policy.sh", "echo good\n")],
        helper: "lib/policy.sh",
        needs: "sh",
    },
    Way {
        name: "make in a folder",
        runs: "make -s -C policy",
        files: &[("policy/Makefile", "all:\n\t@echo good; true\n")],
        helper: "policy/Makefile",
        needs: "make",
    },
    Way {
        name: "a package of Python as a program",
        runs: "python3 -m policy",
        files: &[("policy/__init__.py", ""), ("policy/__main__.py", "print('good')\n")],
        helper: "policy/__main__.py",
        needs: "python3",
    },
    Way {
        name: "a path that is joined in code",
        runs: "node scripts/check.js",
        files: &[
            (
                "scripts/check.js",
                "const p = require('path'); console.log(require(p.join(__dirname, '..', 'policy', 'check.js')))\n",
            ),
            ("policy/check.js", "module.exports = 'good'\n"),
        ],
        helper: "policy/check.js",
        needs: "node",
    },
    Way {
        name: "require of a script in Perl",
        runs: "perl scripts/check.pl",
        files: &[
            ("scripts/check.pl", "require './lib/word.pl'; print word();\n"),
            ("lib/word.pl", "sub word { 'good' }\n1;\n"),
        ],
        helper: "lib/word.pl",
        needs: "perl",
    },
];

#[track_caller]
fn is_installed(program: &str) -> bool {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
    let is_there = folders.iter().any(|folder| std::path::Path::new(folder).join(program).exists());
    Need::of_program(program).met(is_there)
}

fn lay_out(place: &Place, files: &[(&str, &str)]) {
    for (name, content) in files {
        put(place, name, content);
        if content.starts_with("#!") {
            let all = PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(place.path("ws").join(name), all).expect("it is ours");
        }
    }
}

impl Place {
    fn is_trusted_now(&self) {
        let said = self.haft(&["trust", "."], "");
        assert_eq!(said.code, 0, "{}", said.err);
    }

    /// Runs a command as a model would whom everything ordinary is allowed.
    fn model_runs(&self, command: &str) -> Value {
        let arguments = json!({ "command": command }).to_string();
        let said = self.haft(&["--yes", "--json", "call", "bash", &arguments], "");
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("one record: {}{}", said.out, said.err))
    }

    /// Lets a model change a file; returns whether it could.
    fn model_changes(&self, helper: &str, content: &str) -> bool {
        let quoted = content.replace('\'', "'\\''");
        self.model_runs(&format!("printf '%s' '{quoted}' > {helper}"));
        std::fs::read_to_string(self.path("ws").join(helper)).expect("it is there") == content
    }

    fn all_said(&self, arguments: &[&str]) -> String {
        let said = self.haft(arguments, "");
        format!("{}{}", said.out, said.err)
    }
}

/// Checks what must hold for every way to run the helper: a changed one never runs before the user trusts it.
fn check(place: &Place, way: &Way, call: &[&str]) {
    let name = way.name;
    place.is_trusted_now();
    let said = place.all_said(call);
    assert!(said.contains("good"), "{name}: {said}");
    let content = std::fs::read_to_string(place.path("ws").join(way.helper)).expect("it is there");
    let was_changed = place.model_changes(way.helper, &content.replace("good", "evil"));
    for _ in 0..2 {
        let said = place.all_said(call);
        assert!(!said.contains("evil"), "{name}: {said}");
        assert!(said.contains("good") || said.contains("trust"), "{name}: {said}");
        assert!(!was_changed || said.contains("haft trust"), "{name}: it is told: {said}");
    }
    if was_changed {
        let shown = place.all_said(&["trust", "--diff"]);
        assert!(shown.contains("evil") && shown.contains(way.helper), "{name}: {shown}");
        place.is_trusted_now();
        let said = place.all_said(call);
        assert!(said.contains("evil"), "{name}: trusted again: {said}");
    }
}

#[test]
fn a_helper_of_a_hook_that_a_command_changed_does_not_run_until_it_is_trusted() {
    for way in WAYS.iter().filter(|way| is_installed(way.needs)) {
        let place = Place::new();
        lay_out(&place, way.files);
        let runs = way.runs.replace('"', "\\\"");
        let config = format!("[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"({runs}) >&2; exit 2\"\n");
        put(&place, ".haft/config.toml", &config);
        check(&place, way, &["call", "list_dir"]);
    }
}

#[test]
fn a_helper_of_a_program_that_a_command_changed_does_not_run_until_it_is_trusted() {
    for way in WAYS.iter().filter(|way| is_installed(way.needs) && !way.runs.contains('$')) {
        for effects in ["", "effects: []\n"] {
            let place = Place::new();
            lay_out(&place, way.files);
            let words: Vec<&str> = way.runs.split(' ').collect();
            let head = "name: go\ndescription: Goes.\ninput_schema: {}\n";
            put(&place, ".haft/tools/go.yaml", &format!("{head}{effects}binding: {{command: {words:?}}}\n"));
            check(&place, way, &["--yes", "call", "go"]);
        }
    }
}

/// Modules of a Python tool, and the helper that is changed.
const MODULES: &[(&str, Files, &str)] = &[
    (
        "a sibling in the root",
        &[("mod.py", "import helper\ndef go(): return helper.WORD\n"), ("helper.py", "WORD = 'good'\n")],
        "helper.py",
    ),
    (
        "a module beside the definition",
        &[(".haft/tools/mod.py", "import helper\ndef go(): return helper.WORD\n"), ("helper.py", "WORD = 'good'\n")],
        "helper.py",
    ),
    (
        "a module that is imported when it is called",
        &[
            ("mod.py", "def go():\n    import importlib\n    return importlib.import_module('pkg.helper').WORD\n"),
            ("pkg/helper.py", "WORD = 'good'\n"),
        ],
        "pkg/helper.py",
    ),
    (
        "a file that is executed",
        &[
            ("mod.py", "def go():\n    exec(open('lib/helper.py').read(), globals())\n    return WORD\n"),
            ("lib/helper.py", "WORD = 'good'\n"),
        ],
        "lib/helper.py",
    ),
    (
        "a package whose modules import each other",
        &[
            ("mod.py", "from pkg import go\n"),
            ("pkg/__init__.py", "from .one import go\n"),
            ("pkg/one.py", "from .two import WORD\ndef go(): return WORD\n"),
            ("pkg/two.py", "WORD = 'good'\n"),
        ],
        "pkg/two.py",
    ),
];

fn python_tool(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    lay_out(&place, files);
    let definition = "name: go\ndescription: Goes.\nbinding: mod:go\neffects: []\ninput_schema: {}\n";
    put(&place, ".haft/tools/go.yaml", definition);
    place
}

#[test]
fn a_module_that_a_command_changed_is_not_imported_until_it_is_trusted() {
    if !is_installed("python3") {
        return;
    }
    for &(name, files, helper) in MODULES {
        let way = Way { name, runs: "", files: &[], helper, needs: "python3" };
        check(&python_tool(files), &way, &["--yes", "call", "go"]);
    }
}

#[test]
fn what_a_command_puts_beside_a_module_is_not_imported_in_its_place() {
    if !is_installed("python3") {
        return;
    }
    let compiled = "python3 -c \"import py_compile, os; open('e.py','w').write('WORD = \\\"evil\\\"\\n'); \
                    os.utime('e.py', (os.stat('helper.py').st_mtime,) * 2); \
                    py_compile.compile('e.py', __import__('importlib.util').util.cache_from_source('helper.py'))\"; rm e.py";
    let plants = [
        "mkdir helper; echo \"WORD = 'evil'\" > helper/__init__.py",
        compiled,
        "cp helper.py helper.abi3.so",
        "echo \"WORD = 'evil'\" > sitecustomize.py",
        "rm helper.py; ln -s /dev/null helper.py",
        "mv helper.py old.py; mkdir helper.py",
    ];
    for plant in plants {
        let place = python_tool(MODULES[0].1);
        place.is_trusted_now();
        assert!(place.all_said(&["--yes", "call", "go"]).starts_with("good\n"));
        place.model_runs(plant);
        let said = place.all_said(&["--yes", "call", "go"]);
        assert!(!said.contains("evil"), "{plant}: {said}");
    }
}

#[test]
fn an_environment_that_a_command_makes_or_changes_runs_no_trusted_tool() {
    if !is_installed("python3") {
        return;
    }
    let own = "#!/bin/sh\necho evil >&2\n";
    let new = format!("mkdir -p .venv/bin; printf '%s' '{own}' > .venv/bin/python; chmod +x .venv/bin/python");
    let beside = new.replace(".venv", "venv");
    let packages = "d=$(echo .venv/lib/python3*/site-packages)";
    let made = [
        (false, new.clone()),
        (false, beside),
        // What a command says is judged before it runs, so a script says it.
        (true, "python3 plant.py".into()),
        (true, format!("{packages}; echo 'import sys; sys.stderr.write(\"evil\")' > $d/evil.pth")),
    ];
    for (has_environment, plant) in made {
        let place = python_tool(MODULES[0].1);
        if has_environment {
            let python = ["/usr/bin/python3", "/usr/local/bin/python3"]
                .into_iter()
                .find(|path| std::path::Path::new(path).exists());
            let Some(python) = Need::Python.found(python) else { return };
            std::fs::create_dir_all(place.path("ws/.venv/bin")).expect("it is new");
            symlink(python, place.path("ws/.venv/bin/python")).expect("it is new");
            put(&place, ".venv/pyvenv.cfg", "home = /usr/bin\n");
            let plant = "import os\nos.remove('.venv/bin/python')\nos.symlink('/usr/bin/env', '.venv/bin/python')\n";
            put(&place, "plant.py", plant);
            put(&place, ".venv/lib/python3.99/site-packages/README", "");
        }
        place.is_trusted_now();
        assert!(place.all_said(&["--yes", "call", "go"]).starts_with("good\n"), "{plant}");
        place.model_runs(&plant);
        let said = place.all_said(&["--yes", "call", "go"]);
        assert!(
            !said.contains("evil") && said.contains("virtual environment of the project changed"),
            "{plant}: {said}"
        );
    }
}

#[test]
fn a_helper_that_changes_during_a_session_does_not_run() {
    let way = &WAYS[0];
    let place = Place::new();
    lay_out(&place, way.files);
    let config = "[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"sh scripts/check.sh >&2; exit 2\"\n";
    put(&place, ".haft/config.toml", config);
    place.is_trusted_now();
    let change = json!({ "name": "bash", "arguments": { "command": "echo 'echo evil' > scripts/lib.sh" } });
    let list = json!({ "name": "list_dir" });
    let said = place.haft(&["--yes", "call", "-"], &format!("{list}\n\n{change}\n\n{list}\n\n{list}\n"));
    let told: Vec<&str> = said.out.lines().filter(|line| line.contains("list_dir")).collect();
    assert!(told.len() == 3 && told.iter().all(|line| line.contains("refuses this call: good")), "{}", said.out);
    assert_eq!(std::fs::read_to_string(place.path("ws/scripts/lib.sh")).expect("it is there"), "echo evil\n");
}

#[test]
fn a_module_that_is_not_in_the_copy_is_not_imported() {
    if !is_installed("python3") {
        return;
    }
    let module = "def go():\n    import importlib\n    return importlib.import_module('hel' + 'per').WORD\n";
    let place = python_tool(&[("mod.py", module), ("helper.py", "WORD = 'evil'\n")]);
    place.is_trusted_now();
    let said = place.all_said(&["--yes", "call", "go"]);
    assert!(said.contains("is not in the copy") && !said.contains("evil"), "{said}");
}

#[test]
fn a_link_to_a_helper_that_leads_elsewhere_is_not_followed_until_it_is_trusted() {
    let place = Place::new();
    lay_out(&place, &[("check.sh", ". ./lib.sh\n"), ("real.sh", "echo good\n"), ("evil.sh", "echo evil\n")]);
    symlink("real.sh", place.path("ws/lib.sh")).expect("it is new");
    put(
        &place,
        ".haft/config.toml",
        "[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"sh check.sh >&2; exit 2\"\n",
    );
    place.is_trusted_now();
    assert!(place.all_said(&["call", "list_dir"]).contains("good"));
    place.model_runs("ln -sf evil.sh lib.sh");
    let said = place.all_said(&["call", "list_dir"]);
    assert!(!said.contains("evil\n") && said.contains("lib.sh changed since it was trusted"), "{said}");
}

#[test]
fn trust_says_what_the_copy_contains() {
    let place = Place::new();
    lay_out(&place, WAYS[0].files);
    put(&place, ".haft/config.toml", "[[hooks.PreToolUse]]\ncommand = \"sh scripts/check.sh\"\n");
    let said = place.haft(&["trust", "."], "");
    assert!(
        said.out.contains("  copy   of what .haft/config.toml runs: 2 files, 37 bytes: scripts/\n"),
        "{}",
        said.out
    );
    let listed: Value = serde_json::from_str(&place.haft(&["trust", "--json", "."], "").out).expect("one record");
    let files = &listed["copy"]["reaches"][".haft/config.toml"]["files"];
    assert!(files["scripts/lib.sh"]["hash"].is_string(), "{listed}");
    put(&place, "scripts/.env", "A=b\n");
    let said = place.haft(&["trust", "."], "");
    assert!(said.out.contains("not all of scripts is in it: scripts/.env may hold secrets"), "{}", said.out);
}

#[test]
fn the_copy_belongs_to_the_user_alone_and_no_command_sees_it() {
    let place = Place::new();
    lay_out(&place, WAYS[0].files);
    put(&place, ".haft/config.toml", "[[hooks.PreToolUse]]\nmatcher = \"grep\"\ncommand = \"sh scripts/check.sh\"\n");
    place.is_trusted_now();
    let found = place.model_runs("find / -name trusted-code 2>/dev/null");
    assert_eq!(found["status"], "ok", "{found}");
    let own = place.path("").display().to_string();
    assert!(!found["content"].as_str().unwrap_or_default().contains(own.trim_end_matches('/')), "{found}");
}

/// What trusted code runs, the files that exist then, and the one that would run when a command creates it.
const APPEARS: &[(&str, Files, &str, &str)] = &[
    (
        "sh scripts/check.sh",
        &[("scripts/check.sh", "[ -f lib/opt.sh ] && . lib/opt.sh\necho good\n")],
        "lib/opt.sh",
        "echo evil\n",
    ),
    (
        "sh scripts/check.sh",
        &[("scripts/check.sh", "test -x tools/opt && tools/opt\necho good\n")],
        "tools/opt",
        "#!/bin/sh\necho evil\n",
    ),
    (
        "sh scripts/check.sh",
        &[("scripts/check.sh", "PATH=./bin:$PATH\necho good | cat\n")],
        "bin/cat",
        "#!/bin/sh\necho evil\n",
    ),
    ("make -s check", &[("Makefile", "check:\n\t@echo good; true\n")], "GNUmakefile", "check:\n\t@echo evil; true\n"),
    ("make -s check", &[("Makefile", "-include local.mk\ncheck:\n\t@echo good; true\n")], "local.mk", "$(info evil)\n"),
    (
        "node scripts/check.js",
        &[("scripts/check.js", "try { require('../lib/opt') } catch {}\nconsole.log('good')\n")],
        "lib/opt.js",
        "console.log('evil')\n",
    ),
    (
        "python3 -m pkg.check",
        &[("pkg/__init__.py", ""), ("pkg/check.py", "import wave\nprint('good')\n")],
        "wave.py",
        "print('evil')\n",
    ),
    (
        "python3 -m pkg.check",
        &[("pkg/__init__.py", ""), ("pkg/check.py", "import wave\nprint('good')\n")],
        "struct/__init__.py",
        "print('evil')\n",
    ),
    (
        "python3 check.py",
        &[("check.py", "try:\n    import opt\nexcept ImportError: pass\nprint('good')\n")],
        "opt.py",
        "print('evil')\n",
    ),
    (
        "perl scripts/check.pl",
        &[("scripts/check.pl", "do './lib/opt.pl'; print \"good\\n\";\n")],
        "lib/opt.pl",
        "print \"evil\\n\";\n",
    ),
];

#[test]
fn a_file_that_code_would_load_and_that_appears_after_trust_does_not_run() {
    for &(runs, files, appears, content) in APPEARS {
        if !is_installed(runs.split(' ').next().expect("a program")) {
            continue;
        }
        for is_hook in [true, false] {
            let place = Place::new();
            lay_out(&place, files);
            let call: &[&str] = if is_hook { &["call", "list_dir"] } else { &["--yes", "call", "go"] };
            if is_hook {
                let config =
                    format!("[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"({runs}) >&2; exit 2\"\n");
                put(&place, ".haft/config.toml", &config);
            } else {
                let words: Vec<&str> = runs.split(' ').collect();
                let definition =
                    format!("name: go\ndescription: Goes.\ninput_schema: {{}}\nbinding: {{command: {words:?}}}\n");
                put(&place, ".haft/tools/go.yaml", &definition);
            }
            place.is_trusted_now();
            let said = place.all_said(call);
            assert!(said.contains("good"), "{runs}, {appears}: {said}");
            // A model cannot create it with a command.
            let folder = appears.rsplit_once('/').map_or(".", |(folder, _)| folder);
            let written = place.model_runs(&format!("mkdir -p {folder} && printf 'evil' > {appears}"));
            assert!(!place.path("ws").join(appears).exists(), "{runs}, {appears}: {written}");
            // The user can, and then trusts it again.
            lay_out(&place, &[(appears, content)]);
            let said = place.all_said(call);
            assert!(!said.contains("evil") && said.contains("trust"), "{runs}, {appears}: {said}");
            place.is_trusted_now();
            let said = place.all_said(call);
            assert!(said.contains("evil"), "{runs}, {appears}: trusted again: {said}");
        }
    }
}

#[test]
fn folders_that_a_script_enters_or_searches_are_in_the_copy() {
    let ways: &[(&str, Files, &str)] = &[
        ("cd scripts && ./run", &[("scripts/run", "#!/bin/sh\necho good\n")], "scripts/run"),
        ("PATH=./bin:$PATH tool", &[("bin/tool", "#!/bin/sh\necho good\n")], "bin/tool"),
        (
            "python3 scripts/check.py",
            &[
                ("scripts/check.py", "import sys\nsys.path.insert(0, \"lib\")\nimport opt\n"),
                ("lib/opt.py", "print('good')\n"),
            ],
            "lib/opt.py",
        ),
    ];
    for &(runs, files, helper) in ways {
        let place = Place::new();
        lay_out(&place, files);
        let config = format!("[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"({runs}) >&2; exit 2\"\n");
        put(&place, ".haft/config.toml", &config);
        let way = Way { name: runs, runs, files: &[], helper, needs: "sh" };
        check(&place, &way, &["call", "list_dir"]);
    }
}

#[test]
fn a_hook_whose_named_file_changed_refuses_and_is_not_dropped() {
    let place = Place::new();
    put(&place, ".haft/config.toml", "[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"sh opt.sh || true\"\n");
    place.is_trusted_now();
    assert_eq!(place.haft(&["call", "list_dir"], "").code, 0);
    put(&place, "opt.sh", "echo evil >&2; exit 2\n");
    let said = place.haft(&["call", "list_dir"], "");
    assert!(said.code == 3 && !said.err.contains("evil") && said.err.contains("opt.sh"), "{}{}", said.out, said.err);
}

#[test]
fn trust_says_what_no_copy_can_cover() {
    let place = Place::new();
    put(&place, "scripts/check.sh", "for f in a b; do . \"$f\"; done\nnpm test\n");
    put(&place, ".haft/config.toml", "[[hooks.PreToolUse]]\ncommand = \"sh scripts/check.sh\"\n");
    let said = place.haft(&["trust", "."], "").out;
    assert!(
        said.contains("not covered: scripts/check.sh loads a file by a name that it builds: do . \"$f\""),
        "{said}"
    );
    assert!(
        said.contains("not covered: npm, which scripts/check.sh starts, runs the current code of the project"),
        "{said}"
    );
}

#[test]
fn a_hook_in_a_copied_folder_finds_the_repository() {
    let place = Place::new();
    put(&place, "scripts/check.sh", "cd scripts && git rev-parse --show-prefix\n");
    put(
        &place,
        ".haft/config.toml",
        "[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"sh scripts/check.sh >&2; exit 2\"\n",
    );
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(place.path("ws")).status();
    if !Need::Git.met(made.is_ok_and(|status| status.success())) {
        return;
    }
    place.is_trusted_now();
    let said = place.all_said(&["call", "list_dir"]);
    assert!(said.contains("scripts/"), "{said}");
    assert!(!said.contains("filesystem boundary"), "{said}");
}

#[test]
fn nothing_that_a_command_creates_makes_the_hooks_of_a_project_go_away() {
    let plants = [
        "ln -s /etc/passwd sh",
        "ln -s /etc/passwd allow.txt",
        "truncate -s 300M sh",
        "mkdir grep exit",
        "ln -s nowhere evil",
    ];
    for plant in plants {
        let place = Place::new();
        put(&place, ".haft/hooks/h.sh", "grep -q evil && { echo no >&2; exit 2; }; exit 0\n");
        let config = "[[hooks.PreToolUse]]\nmatcher = \"write_file\"\ncommand = \"sh .haft/hooks/h.sh allow.txt\"\n";
        put(&place, ".haft/config.toml", config);
        place.is_trusted_now();
        place.model_runs(plant);
        let said = place.haft(&["--yes", "call", "write_file", r#"{"path": "evil.txt", "content": "x"}"#], "");
        assert_eq!(said.code, 3, "{plant}: {}{}", said.out, said.err);
        assert!(!place.path("ws/evil.txt").exists(), "{plant}");
    }
}

#[test]
fn a_module_of_the_workspace_is_not_imported_by_the_users_own_hook() {
    if !is_installed("python3") {
        return;
    }
    let check = "import json,sys; d=json.load(sys.stdin); sys.exit(2 if 'evil' in str(d) else 0)";
    let place = Place::new();
    std::fs::create_dir_all(place.path("home/.config/haft")).expect("it is ours");
    let config = format!("[[hooks.PreToolUse]]\nmatcher = \"write_file\"\ncommand = \"python3 -c \\\"{check}\\\"\"\n");
    std::fs::write(place.path("home/.config/haft/config.toml"), config).expect("it is ours");
    let write = |name: &str| {
        place.haft(&["--yes", "call", "write_file", &json!({ "path": name, "content": "x" }).to_string()], "")
    };
    assert_eq!(write("evil.txt").code, 3);
    assert_eq!(write("good.txt").code, 0);
    put(&place, "json.py", "import sys\nsys.exit(0)\n");
    let said = write("evil.txt");
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
}

#[test]
fn what_lies_compiled_beside_a_module_does_not_run_in_its_place() {
    if !is_installed("python3") {
        return;
    }
    let place = Place::new();
    put(&place, "policy.py", "print('good')\n");
    let config = "[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"python3 -c 'import policy' >&2; exit 2\"\n";
    put(&place, ".haft/config.toml", config);
    place.is_trusted_now();
    assert!(place.all_said(&["call", "list_dir"]).contains("good"));
    let plant = "import py_compile, importlib.util as u; open('e.py', 'w').write(\"print('evil')\\n\"); \
                 py_compile.compile('e.py', u.cache_from_source('policy.py'), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)";
    put(&place, "plant.py", plant);
    place.model_runs("python3 plant.py; rm -f e.py plant.py; ls __pycache__");
    let said = place.all_said(&["call", "list_dir"]);
    assert!(said.contains("good") && !said.contains("evil"), "{said}");
}
