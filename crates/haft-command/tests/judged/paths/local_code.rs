//! Commands that run code of the workspace because of files that lie there, judged by the defaults.
//!
//! Each row is a command that is harmless in an ordinary workspace, and files that make it run code. The table is
//! tried in the folder itself, in a folder below, and with the files made by the same command.

use haft_command::{CommandReader, CommandScene, Locate, PathLocation};
use haft_contract::doors::door::FileKind;
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_policy::decision::Decision::{self, Allow, Ask, Deny};
use haft_policy::effect_kind::EffectKind;
use haft_policy::examples::{HOME, WORKSPACE, decision, decision_beside};
use haft_policy::policy::{Policy, Situation};

/// A command, and files each of which makes it run code, in its folder or in one above.
const CHOSEN: &[(&str, &[&str])] = &[
    ("cargo --version", &["rust-toolchain.toml", "rust-toolchain"]),
    ("cargo version", &["rust-toolchain.toml", "rust-toolchain"]),
    ("cargo --list", &["rust-toolchain.toml"]),
    ("cargo tree --frozen", &["rust-toolchain.toml", ".cargo/config.toml", ".cargo/config"]),
    ("cargo metadata --no-deps", &["rust-toolchain", ".cargo/config.toml"]),
    ("cargo fmt --check", &["rust-toolchain.toml", ".cargo/config.toml"]),
    ("cargo clean -n", &["rust-toolchain.toml", ".cargo/config.toml"]),
    ("rustc -vV", &["rust-toolchain.toml", "rust-toolchain"]),
    ("rustc --version", &["rust-toolchain.toml"]),
    ("rustc --explain E0382", &["rust-toolchain.toml"]),
    ("rustfmt --check src/main.rs", &["rust-toolchain.toml"]),
    ("rustup show", &["rust-toolchain.toml"]),
    ("rust-analyzer --version", &["rust-toolchain.toml", "rust-toolchain"]),
    ("rls --version", &["rust-toolchain.toml"]),
    ("rust-gdb --version", &["rust-toolchain.toml"]),
    ("rust-lldb --version", &["rust-toolchain.toml"]),
    ("rust-gdbgui --version", &["rust-toolchain.toml"]),
    ("cargo-clippy --version", &["rust-toolchain.toml"]),
    ("cargo-fmt --version", &["rust-toolchain.toml"]),
    ("cargo-miri --version", &["rust-toolchain.toml"]),
    ("clippy-driver --version", &["rust-toolchain.toml"]),
    ("rustdoc --version", &["rust-toolchain.toml"]),
    ("yarn --version", &[".yarnrc.yml", ".yarnrc", ".corepack.env"]),
    ("yarn -v", &[".yarnrc.yml", ".yarnrc"]),
    ("yarn why react", &[".yarnrc.yml"]),
    ("pnpm --version", &[".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml", ".corepack.env"]),
    ("pnpm ls", &[".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs"]),
    ("pnpm why react", &[".npmrc", "pnpm-workspace.yml"]),
    ("pnpm licenses list", &[".npmrc"]),
    ("yarn list", &[".yarnrc", ".pnp.cjs"]),
    ("mvn -v", &[".mvn/jvm.config", ".mvn/extensions.xml", ".mvn/maven.config"]),
    ("mvn --version", &[".mvn/jvm.config"]),
    ("sbt --version", &[".sbtopts", ".jvmopts"]),
    ("mill --version", &[".mill-version", ".mill-jvm-opts"]),
    ("bazel --version", &["tools/bazel", ".bazelversion", ".bazeliskrc"]),
    ("dotnet --version", &["global.json"]),
    ("dotnet --info", &["global.json"]),
    ("rails -v", &["bin/rails", "script/rails"]),
    ("webpack --version", &["node_modules/webpack-cli/bin/cli.js"]),
    ("ng --version", &["node_modules/@angular/cli/bin/ng.js"]),
    ("gulp --version", &["node_modules/gulp/index.js", ".gulp.js", ".gulp.cjs", ".gulp.json", ".gulp.ts"]),
    ("bundle --version", &[".bundle/config", "Gemfile.lock", "gems.locked"]),
    ("bundle -v", &[".bundle/config"]),
    ("bundle config list", &[".bundle/config"]),
    ("jekyll --version", &["Gemfile", "gems.rb"]),
    ("rspec --version", &[".rspec", ".rspec-local"]),
    ("mocha --version", &[".mocharc.json", ".mocharc.yml", "package.json"]),
    ("nyc --version", &[".nycrc", "nyc.config.js"]),
    ("nx --version", &[".nx/nxw.js", "nx.json"]),
    ("turbo --version", &["turbo.json"]),
    ("rush --version", &["rush.json"]),
    ("lake --version", &["lean-toolchain"]),
    ("packer version", &["packer-plugin-x", "packer-builder-a.sh"]),
    ("npx --version", &[".npmrc"]),
    ("cross --version", &["rust-toolchain.toml"]),
    ("ansible-lint", &[".ansible-lint", ".ansible-lint.yml", ".ansible-lint.yaml", ".config/ansible-lint.yaml"]),
    ("ansible-lint --version", &["ansible.cfg"]),
    ("ruff check .", &["ruff.toml", ".ruff.toml", "pyproject.toml"]),
    ("ruff format --check .", &["ruff.toml"]),
    ("goimports -l src", &["go.mod"]),
    ("jest --version", &["node_modules/jest/bin/jest.js"]),
    ("composer show", &["vendor/composer/installed.json"]),
    ("poetry show --tree", &[".poetry/plugins/a.py", ".venv/bin/python"]),
    ("uv pip list", &[".venv/bin/python"]),
    ("uv tree --frozen", &[".venv/bin/python"]),
    ("ast-grep run -p x", &["sgconfig.yml", "sgconfig.yaml"]),
    ("ctags -R -f new-tags src", &[".ctags", ".ctags.d/a.ctags", "ctags.d/a.ctags"]),
    ("clang-tidy src/a.c", &[".clang-tidy", "compile_commands.json"]),
    ("yamllint .", &[]),
    ("hg status", &[".hg/hgrc", ".hg/hgrc-not-shared"]),
    ("hg --version", &[".hg/hgrc"]),
    ("bazelisk --version", &["tools/bazel", ".bazelversion"]),
    ("poetry show", &[".poetry/plugins/a.py", ".venv/bin/python"]),
    ("go version", &["go.mod", "go.work"]),
    ("go env GOPATH", &["go.mod", "go.work"]),
    ("go help build", &["go.mod"]),
    ("tsc --noEmit", &["tsconfig.json"]),
    ("tsc --noEmit -p .", &["tsconfig.json"]),
    ("hg log -l 5", &[".hg/hgrc"]),
    ("jj st --ignore-working-copy", &[".jj/repo/config.toml", ".jj/workspace-config.toml"]),
];

/// Commands that run code of the workspace by their nature: what they load is seldom in one known file.
const ALWAYS: &[&str] = &[
    "pylint src",
    "python3 -m pylint src",
    "flake8",
    "flake8 --max-line-length 100",
    "mypy src",
    "prettier --check .",
    "prettier -c src",
    "dprint check",
    "mdl docs",
    "markdownlint-cli2 docs",
    "sqlfluff lint a.sql",
    "tflint",
    "checkov -d .",
    "vue-tsc --noEmit",
    "dotnet list package",
    "infer run",
    "xsltproc a.xsl a.xml",
    "gcc -v main.c",
];

/// Commands that write, or that send a name to another machine.
const WRITES_OR_SENDS: &[&str] = &[
    "etags src/main.rs",
    "ctags src/main.rs",
    "cscope -b",
    "gtags",
    "tic x.src",
    "getent hosts x.example",
    "getent ahosts x.example",
    "getent ahostsv4 x.example",
    "getent ahostsv6 x.example",
    "getent networks x",
    "getent -s dns hosts x.example",
    "getent $DATABASE x.example",
];

fn check(wanted: Decision, planted: &[&str], command: &str) {
    assert_eq!(decision_beside(planted, command), wanted, "{command} beside {planted:?}");
}

#[test]
fn a_command_that_follows_files_of_the_workspace_is_asked_about_where_they_are() {
    for (command, files) in CHOSEN {
        check(Allow, &[], command);
        for file in *files {
            check(Ask, &[file], command);
            check(Ask, &[file], &format!("cd src && {command}"));
            let (planted, below) = (format!("evil/{file}"), format!("cd evil && {command}"));
            check(Ask, &[&planted], &below);
            check(Allow, &["evil/a.txt"], &below);
            check(Allow, &[&planted], command);
        }
    }
}

/// Commands with an option in the place of `OPTION` that names another folder, and a file there that they follow.
const ELSEWHERE: &[(&str, &[&str], &str)] = &[
    (
        "hg status OPTION",
        &["-R", "-R=", "--repository", "--repository=", "--repo", "--cwd", "--cwd=", "-qR"],
        ".hg/hgrc",
    ),
    ("hg version OPTION", &["-R", "--cwd"], ".hg/hgrc"),
    ("hg OPTION root", &["-R", "--cwd"], ".hg/hgrc"),
    ("hg root OPTION", &["-R", "--cwd"], ".hg/hgrc"),
    ("hg log OPTION -R src", &["-R"], ".hg/hgrc"),
    ("hg -R src log OPTION", &["-R"], ".hg/hgrc"),
    ("hg log -R src OPTION", &["-R"], ".hg/hgrc"),
    ("jj root --ignore-working-copy OPTION", &["-R", "--repository="], ".jj/repo/config.toml"),
    ("poetry show OPTION", &["-C", "-P", "--directory", "--project="], ".poetry/plugins/a.py"),
    ("poetry env info OPTION", &["-C", "--directory="], ".poetry/plugins/a.py"),
    ("pdm info OPTION", &["-p", "--project"], ".pdm-plugins/a.py"),
    ("composer show OPTION", &["-d", "--working-dir", "--working-dir="], "composer.json"),
    ("composer help OPTION", &["-d"], "composer.json"),
    ("composer -d src show OPTION", &["-d"], "composer.json"),
    ("pnpm ls OPTION", &["-C", "--dir", "--dir="], ".pnpmfile.cjs"),
    ("npm ls OPTION", &["-C", "--prefix", "--prefix="], ".npmrc"),
    ("npm root OPTION", &["--prefix"], ".npmrc"),
    ("npm version OPTION", &["--prefix="], ".npmrc"),
    ("yarn why react OPTION", &["--cwd", "--cwd="], ".yarnrc.yml"),
    ("bun pm ls OPTION", &["--cwd", "--cwd="], "bunfig.toml"),
    ("uv pip list OPTION", &["--directory", "--project="], ".venv/bin/python"),
    ("uv tree --frozen OPTION", &["--directory", "--project="], ".venv/bin/python"),
    ("go version OPTION", &["-C"], "go.mod"),
    ("go env OPTION GOPATH", &["-C"], "go.work"),
    ("go mod edit OPTION -json", &["-C"], "go.mod"),
];

#[test]
fn an_option_that_names_another_folder_counts_behind_a_subcommand_too() {
    for (command, options, file) in ELSEWHERE {
        for option in *options {
            let given = if option.ends_with('=') { format!("{option}evil") } else { format!("{option} evil") };
            let given = given.replace("-R=", "-R");
            let command = command.replace("OPTION", &given);
            check(Ask, &[&format!("evil/{file}")], &command);
            check(Allow, &["evil/a.txt"], &command);
        }
    }
    // Behind a subcommand of git it means something else.
    check(Allow, &["evil/HEAD", "evil/objects/a"], "git log -C evil");
    check(Ask, &[], "docker compose config --services -f other.yml");
}

/// Commands that follow settings beside the files that they look at.
const BESIDE: &[(&str, &str)] = &[
    ("hg log evil/x", ".hg/hgrc"),
    ("hg status evil/x", ".hg/hgrc"),
    ("hg cat evil/x", ".hg/hgrc"),
    ("hg diff evil", ".hg/hgrc"),
    ("hg log evil/deep/x", ".hg/hgrc"),
    ("clang-tidy evil/x.c", ".clang-tidy"),
    ("clang-tidy evil/*.c", ".clang-tidy"),
    ("clang-tidy a.c evil/x.c", "compile_commands.json"),
    ("clang-tidy */x.c", ".clang-tidy"),
    ("clang-tidy e*/x*.c", ".clang-tidy"),
    ("hg log ev*", ".hg/hgrc"),
    ("hg status *", ".hg/hgrc"),
    ("codespell evil", ".codespellrc"),
    ("ruff check evil", "ruff.toml"),
    ("ruff check evil", "pyproject.toml"),
    ("radon cc evil", "radon.cfg"),
    ("yamllint evil", ".yamllint"),
    ("ctags -x evil/x.c", ".ctags"),
];

#[test]
fn settings_beside_the_files_that_a_command_looks_at_are_followed() {
    for (command, file) in BESIDE {
        check(Ask, &[&format!("evil/{file}")], command);
        check(Allow, &["evil/x"], command);
    }
}

/// A workspace with one file, whose text is known.
struct OneFile<'a>(&'a str, &'a str);

impl Locate for OneFile<'_> {
    fn locate(&self, path: &str) -> PathLocation {
        let inside = path.strip_prefix(WORKSPACE).map(|rest| rest.trim_start_matches('/'));
        let target = |inside| Target::Inside(FileLocation::new(inside, Extent::Entry));
        let outside = || Target::Outside(FileLocation::new(path, Extent::Entry));
        let kind = inside.filter(|inside| *inside == self.0).map(|_| FileKind::File);
        PathLocation { target: inside.map_or_else(outside, target), kind }
    }

    fn text_of(&self, file: &str) -> Option<String> {
        file.ends_with(self.0).then(|| self.1.to_owned())
    }
}

#[test]
fn a_file_is_followed_only_where_its_text_says_so() {
    let (home, workspace) = (HOME.to_owned(), WORKSPACE.to_owned());
    let scene = CommandScene { home, user: "somebody".to_owned(), folder: workspace.clone(), workspace };
    let judged = |file: OneFile<'_>, command: &str| {
        let reader = CommandReader { scene: &scene, locate: &file, is_refused: EffectKind::refuses_step };
        Policy::default().judge("bash", &reader.steps(command), Situation::default()).decision
    };
    let module = "module x\n\ngo 1.21\n";
    for command in ["go version", "go env GOPATH", "go list -m"] {
        assert_eq!(judged(OneFile("go.mod", module), command), Allow, "{command}");
        let other = format!("{module}\ntoolchain go1.30.0\n");
        assert_eq!(judged(OneFile("go.mod", &other), command), Ask, "{command}");
        assert_eq!(judged(OneFile("go.work", &other), command), Ask, "{command}");
        let written = format!("echo 'toolchain go1.30.0' > go.work; {command}");
        assert_eq!(judged(OneFile("a.txt", ""), &written), Ask, "{written}");
    }
    let harmless = "[tool.ruff]\nselect = ['E']\nunfixable = []\nextend-select = ['I']\n[tool.x]\nprefix = 'fix'\n";
    for file in ["pyproject.toml", "ruff.toml", ".ruff.toml"] {
        assert_eq!(judged(OneFile(file, harmless), "ruff check ."), Allow, "{file}");
        let settings = [
            "fix = true",
            "fix=true",
            "\"fix\" = true",
            "ruff.fix\t= true",
            "FIX: 1",
            "cache-dir = 'x'",
            "\"\\u0066ix\" = 1",
        ];
        for setting in settings {
            let text = format!("{harmless}{setting}\n");
            assert_eq!(judged(OneFile(file, &text), "ruff check ."), Ask, "{setting} in {file}");
            assert_eq!(judged(OneFile(file, &text), "ruff check --isolated ."), Allow, "{setting} in {file}");
        }
    }
    assert_eq!(judged(OneFile("tsconfig.json", r#"{"strict": true}"#), "tsc --noEmit"), Allow);
    for option in ["incremental", "composite", "extends"] {
        let text = format!(r#"{{"compilerOptions": {{"{option}": true}}}}"#);
        assert_eq!(judged(OneFile("tsconfig.json", &text), "tsc --noEmit"), Ask, "{option}");
    }
}

#[test]
fn a_file_that_the_same_command_makes_counts() {
    for (file, command) in [
        (".mill-version", "mill --version"),
        (".bazelversion", "bazel --version"),
        ("global.json", "dotnet --version"),
        ("pnpm-workspace.yaml", "pnpm ls"),
    ] {
        check(Ask, &[], &format!("echo x > {file}; {command}"));
        check(Ask, &[], &format!("mkdir evil && cd evil && echo x > {file} && {command}"));
    }
    for command in ["cargo --version", "rustc -vV", "rustup show"] {
        check(Deny, &[], &format!("echo x > rust-toolchain.toml; {command}"));
    }
    check(Ask, &[], "echo x > argparse.py; python3 -m json.tool a.json");
    check(Ask, &[], "cp a.txt json.py && python3 -m json.tool a.json");
    let filled = [
        "cp -r tmpl new",
        "cp -a tmpl/ new",
        "mkdir new && cp tmpl/* new",
        "mkdir -p new && cp -r tmpl/. new",
        "rsync -a tmpl/ new",
        "git clone . new",
        "mv tmpl new",
        "tar xf a.tar -C new",
    ];
    for filled in filled {
        for entered in ["cd new && python3 -m json.tool ../a.json", "env -C new python3 -m json.tool ../a.json"] {
            check(Ask, &["tmpl/argparse.py"], &format!("{filled} && {entered}"));
        }
    }
    check(Ask, &["tmpl/argparse.py"], "mkdir new && cp -r tmpl new && cd new/tmpl && python3 -m json.tool ../a.json");
    check(Allow, &["tmpl/argparse.py"], "mkdir -p new && cd new && python3 -m json.tool ../a.json");
    check(Allow, &[], "mkdir evil && cd evil && git status");
}

#[test]
fn linters_and_makers_that_load_code_are_asked_about() {
    ALWAYS.iter().for_each(|command| check(Ask, &[], command));
}

#[test]
fn programs_that_write_or_send_by_their_nature_are_asked_about() {
    WRITES_OR_SENDS.iter().for_each(|command| assert_ne!(decision(command), Allow, "{command}"));
    for command in ["getent passwd root", "getent group", "getent services ssh", "tic -c x.src", "ctags -x a.c"] {
        check(Allow, &[], command);
    }
}

#[test]
fn a_module_of_python_that_a_file_shadows_is_code() {
    let shadows = [
        "json/__init__.py",
        "json/tool.py",
        "json.py",
        "json.pyc",
        "json.cpython-312-x86_64-linux-gnu.so",
        "argparse.py",
        "re.py",
        "runpy.py",
        "collections/__init__.py",
    ];
    let commands = ["python3 -m json.tool a.json", "python3 -mjson.tool a.json", "cat a.json | python -m json.tool"];
    for command in commands {
        check(Allow, &[], command);
        shadows.iter().for_each(|file| check(Ask, &[file], command));
        for harmless in ["tests/json.py", "data.json", "json.txt", "jsonx.py", "site/index.html", "types/a.d.ts"] {
            check(Allow, &[harmless], command);
        }
        check(Ask, &["evil/json.py"], &format!("cd evil; {command}"));
        check(Allow, &["json.py"], &format!("cd src; {command}"));
    }
    for module in ["tabnanny", "ast", "tokenize", "calendar", "sysconfig", "platform", "site", "dis"] {
        check(Ask, &[&format!("{module}.py")], &format!("python3 -m {module} a.py"));
        check(Ask, &[&format!("{module}/a.py")], &format!("python3 -m {module} a.py"));
    }
    for isolated in ["python3 -I -m json.tool a.json", "python3 -P -m json.tool a.json", "python3 -Im json.tool a.json"]
    {
        check(Allow, &["json.py"], isolated);
    }
}

#[test]
fn a_bare_repository_is_one_that_git_takes_for_its_own() {
    let bare = ["evil/HEAD", "evil/objects/a", "evil/refs/a", "evil/config"];
    let shared = ["evil/HEAD", "evil/commondir"];
    let reads = [
        "status",
        "log --oneline",
        "log -3",
        "diff",
        "show",
        "branch",
        "rev-parse HEAD",
        "ls-files",
        "blame a.txt",
        "grep x",
    ];
    for planted in [bare.as_slice(), shared.as_slice()] {
        for read in reads {
            check(Ask, planted, &format!("cd evil && git {read}"));
            check(Ask, planted, &format!("git -C evil {read}"));
            check(Ask, planted, &format!("(cd evil; git {read})"));
            check(Ask, planted, &format!("pushd evil; git {read}"));
            check(Ask, planted, &format!("env -C evil git {read}"));
            check(Ask, planted, &format!("git --git-dir=evil {read}"));
            check(Ask, planted, &format!("git --git-dir evil {read}"));
            check(Ask, planted, &format!("cd evil/refs && git {read}"));
            check(Ask, planted, &format!("cd e* && git {read}"));
            check(Allow, planted, &format!("git {read}"));
            check(Allow, planted, &format!("cd src && git {read}"));
            check(Allow, planted, &format!("git --git-dir=.git {read}"));
        }
    }
    check(Allow, &["sub/.git/HEAD", "sub/HEAD", "sub/objects/a"], "cd sub && git status");
    check(Ask, &[], "GIT_DIR=evil git status");
}
