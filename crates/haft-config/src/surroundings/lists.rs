//! Lists the folders and variables that a command gets, and the folders in which tools keep their downloads.
//!
//! A command does not see the rest of the home, other homes or other variables. `~` is the user's home. The lists are
//! constants and not a file, because every call of a command would read that file.

use super::caches::{CacheRow, CacheVariable};

/// Folders outside the home; those of the system itself are known to the sandbox.
pub(super) const ELSEWHERE: &[&str] = &["/home/linuxbrew/.linuxbrew", "/var/cache/man"];

/// Folders of toolchains, in the home.
pub(super) const TOOLCHAINS: &str = "
    ~/.cargo ~/.rustup ~/.nvm ~/.fnm ~/.volta ~/.n ~/.bun ~/.deno ~/.npm-global ~/.pnpm ~/.local/share/pnpm
    ~/.local/share/fnm ~/.local/share/mise ~/.local/share/rtx ~/.local/share/uv ~/.local/share/pipx
    ~/.local/share/pypoetry ~/.local/share/virtualenvs ~/.local/bin ~/.local/lib ~/.yarn ~/.asdf ~/.mise ~/.pyenv
    ~/.virtualenvs ~/.pixi ~/miniconda3 ~/anaconda3 ~/miniforge3 ~/mambaforge ~/.poetry ~/.rbenv ~/.rvm ~/.gem
    ~/.bundle/cache ~/go ~/.go ~/.gvm ~/.goenv ~/sdk ~/.sdkman ~/.jenv ~/.jabba ~/.m2/repository ~/.m2/wrapper
    ~/.gradle/caches ~/.gradle/wrapper ~/.ivy2/cache ~/.cache/coursier ~/.konan ~/.dotnet ~/.nuget/packages ~/.ghcup
    ~/.cabal ~/.stack ~/.opam ~/.elan ~/.juliaup ~/.julia/juliaup ~/.nimble ~/.choosenim ~/.zvm ~/.zigup ~/.swiftly
    ~/.pub-cache ~/flutter ~/.composer/vendor ~/.config/composer/vendor ~/.phpenv ~/.plenv ~/perl5 ~/.luarocks
    ~/.nix-profile ~/.cache/pre-commit ~/.cache/ms-playwright ~/.npm/_cacache ~/.cache/pip ~/.cache/uv
    ~/.cache/go-build";

/// Files of toolchains that hold keys: covered, though they lie in a folder above. The sandbox looks for more of them.
pub(super) const SECRETS: &str = "
    ~/.cargo/credentials ~/.cargo/credentials.toml ~/.m2/settings.xml ~/.m2/settings-security.xml
    ~/.gradle/gradle.properties ~/.gem/credentials ~/.composer/auth.json ~/.config/composer/auth.json
    ~/.nuget/NuGet/NuGet.Config ~/.cabal/config ~/.pub-cache/credentials.json ~/.stack/config.yaml ~/.bundle/config
    ~/.nimble/github_api_token ~/.luarocks/upload_config.lua ~/.stack/upload ~/.dotnet/corefx
    ~/.opam/plugins/opam-publish ~/.pub-cache/credentials ~/.julia/servers ~/.gem/ruby/credentials ~/go/.netrc
    ~/.poetry/auth.toml ~/.sdkman/etc/credentials ~/.local/share/uv/credentials ~/.pypirc ~/.npmrc ~/.netrc";

/// Variables that are passed on as they are. `*` at the end means every name that begins so.
pub(super) const VARIABLES: &str = "
    PATH USER LOGNAME TZ CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_GENERATOR
    CMAKE_BUILD_PARALLEL_LEVEL PKG_CONFIG_PATH LD_LIBRARY_PATH LIBRARY_PATH CPATH RUSTUP_TOOLCHAIN RUSTFLAGS
    RUSTC_WRAPPER RUST_BACKTRACE CARGO_BUILD_JOBS CARGO_INCREMENTAL CARGO_PROFILE_* GOFLAGS GO111MODULE GOOS GOARCH
    CGO_ENABLED NODE_ENV NODE_VERSION PYTHONPATH PYTHONUTF8 PYTHONHASHSEED PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED
    PYTHONIOENCODING PYTHONNOUSERSITE PYTHONOPTIMIZE PYTHONFAULTHANDLER PYTHONDEVMODE PIP_DISABLE_PIP_VERSION_CHECK
    PIP_DEFAULT_TIMEOUT PIP_TIMEOUT PIP_RETRIES PIP_NO_INPUT PIP_NO_COLOR PIP_PROGRESS_BAR PIP_REQUIRE_VIRTUALENV
    PIP_PREFER_BINARY PIP_NO_CACHE_DIR PIP_ROOT_USER_ACTION UV_HTTP_TIMEOUT UV_NO_PROGRESS UV_LINK_MODE
    UV_COMPILE_BYTECODE npm_config_fund npm_config_audit npm_config_update_notifier npm_config_loglevel
    npm_config_progress NPM_CONFIG_FUND NPM_CONFIG_AUDIT NPM_CONFIG_UPDATE_NOTIFIER NPM_CONFIG_LOGLEVEL
    NPM_CONFIG_PROGRESS NODE_NO_WARNINGS NODE_DISABLE_COLORS NO_UPDATE_NOTIFIER NO_COLOR CARGO_TERM_COLOR
    CARGO_NET_RETRY CARGO_NET_OFFLINE CARGO_HTTP_TIMEOUT RUST_LOG RUST_TEST_THREADS RUST_MIN_STACK GOMAXPROCS GOGC
    GOMEMLIMIT DO_NOT_TRACK NEXT_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO PYENV_VERSION
    RBENV_VERSION ASDF_*_VERSION RUBYLIB PERL5LIB JAVA_TOOL_OPTIONS SOURCE_DATE_EPOCH DEBIAN_FRONTEND CI NIX_PATH
    NIX_PROFILES NIX_SSL_CERT_FILE SSL_CERT_FILE SSL_CERT_DIR";

/// Variables that are set for every command: output is the same on every machine, and no program waits for an answer.
pub(super) const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TMPDIR", "/tmp"),
    // Inside, root has no right to change owners, and tar would try it as root.
    ("TAR_OPTIONS", "--no-same-owner"),
];

/// Variables that are set for background jobs alone, unless the user has set them. The kernel does not tell a program over a
/// layer what changes in the workspace below, so file watchers have to poll; these make chokidar (vite, nodemon), webpack,
/// the compiler of TypeScript before version 7 and watchfiles (uvicorn) do that.
pub(super) const SET_FOR_JOBS: &[(&str, &str)] = &[
    ("CHOKIDAR_USEPOLLING", "1"),
    ("CHOKIDAR_INTERVAL", "500"),
    ("WATCHPACK_POLLING", "500"),
    ("WATCHFILES_FORCE_POLLING", "true"),
    ("TSC_WATCHFILE", "DynamicPriorityPolling"),
    ("TSC_WATCHDIRECTORY", "RecursiveDirectoryUsingDynamicPriorityPolling"),
];

/// Variables that name a toolchain's folder: passed on, and the folder is readable. Beside each stands where it usually
/// lies: what is covered there is covered in the named folder too.
pub(super) const FOLDERS: &[(&str, &str)] = &[
    ("CARGO_HOME", "~/.cargo"),
    ("RUSTUP_HOME", "~/.rustup"),
    ("GOROOT", ""),
    ("GOPATH", "~/go"),
    ("JAVA_HOME", ""),
    ("JDK_HOME", ""),
    ("M2_HOME", "~/.m2"),
    ("GRADLE_HOME", "~/.gradle"),
    ("MAVEN_HOME", ""),
    ("NVM_DIR", "~/.nvm"),
    ("FNM_DIR", "~/.fnm"),
    ("VOLTA_HOME", "~/.volta"),
    ("PNPM_HOME", "~/.local/share/pnpm"),
    ("BUN_INSTALL", "~/.bun"),
    ("DENO_INSTALL", "~/.deno"),
    ("PYENV_ROOT", "~/.pyenv"),
    ("VIRTUAL_ENV", ""),
    ("CONDA_PREFIX", ""),
    ("POETRY_HOME", "~/.poetry"),
    ("PIPX_HOME", "~/.local/share/pipx"),
    ("RBENV_ROOT", "~/.rbenv"),
    ("GEM_HOME", "~/.gem"),
    ("SDKMAN_DIR", "~/.sdkman"),
    ("ASDF_DIR", ""),
    ("ASDF_DATA_DIR", "~/.asdf"),
    ("MISE_DATA_DIR", "~/.local/share/mise"),
    ("GHCUP_INSTALL_BASE_PREFIX", ""),
    ("OPAMROOT", "~/.opam"),
    ("DOTNET_ROOT", "~/.dotnet"),
    ("ANDROID_HOME", ""),
    ("ANDROID_SDK_ROOT", ""),
    ("FLUTTER_ROOT", "~/flutter"),
    ("JULIA_DEPOT_PATH", "~/.julia"),
    ("HOMEBREW_PREFIX", ""),
    ("HOMEBREW_CELLAR", ""),
    ("HOMEBREW_REPOSITORY", ""),
    ("LLVM_SYS_PREFIX", ""),
];

/// Folders in which tools keep what they download. Inside, a tool may write there: into a layer that ends with the session.
/// `named_by`: variables that name the folder, or, with a second word, one around it; they are passed on. Without `folder`
/// there is a cache only where one is set. `movable`: where no layer is possible, the first variable leads to a private
/// folder; the other tools need what is there already, so their folder stays as it is, read-only.
/// `carried`: parts whose new files haft keeps for the next session, "." for all; never programs, settings or keys.
/// `left_out`: what is in those and tells of a moment: locks, databases, logs, unfinished files. `*` is a part of a name,
/// `**` any folders. An empty file `*.lock` is never carried.
pub(super) const CACHES: &[CacheRow] = &[
    CacheRow {
        folder: Some("~/.cargo"),
        named_by: &[CacheVariable::itself("CARGO_HOME")],
        carried: &["registry/cache", "registry/index", "registry/src", "git/db", "git/checkouts"],
        left_out: &["registry/index/**/.cargo-index-lock", "git/**/*.lock"],
        ..CacheRow::named("cargo")
    },
    CacheRow {
        folder: Some("~/.npm/_cacache"),
        named_by: &[CacheVariable::around("npm_config_cache", "_cacache")],
        movable: true,
        carried: &["content-v2", "index-v5"],
        ..CacheRow::named("npm")
    },
    CacheRow {
        folder: Some("~/.cache/node-gyp"),
        named_by: &[CacheVariable::itself("npm_config_devdir")],
        carried: &["."],
        ..CacheRow::named("node-gyp")
    },
    CacheRow {
        folder: Some("~/.local/share/pnpm/store"),
        named_by: &[CacheVariable::itself("npm_config_store_dir"), CacheVariable::around("PNPM_HOME", "store")],
        movable: true,
        carried: &["."],
        // Projects are links to their folders; the server has a socket there.
        left_out: &["*/tmp", "*/projects", "*/server", "**/*.db*"],
        ..CacheRow::named("pnpm")
    },
    CacheRow { folder: Some("~/.cache/pnpm"), carried: &["."], ..CacheRow::named("pnpm-metadata") },
    CacheRow {
        folder: Some("~/.cache/yarn"),
        named_by: &[CacheVariable::itself("YARN_CACHE_FOLDER")],
        movable: true,
        carried: &["."],
        left_out: &["*/.tmp"],
        ..CacheRow::named("yarn")
    },
    CacheRow {
        folder: Some("~/.yarn/berry/cache"),
        named_by: &[CacheVariable::around("YARN_GLOBAL_FOLDER", "cache")],
        movable: true,
        carried: &["."],
        left_out: &["**/*.flock"],
        ..CacheRow::named("yarn-berry")
    },
    CacheRow {
        folder: Some("~/.bun/install/cache"),
        named_by: &[
            CacheVariable::itself("BUN_INSTALL_CACHE_DIR"),
            CacheVariable::around("BUN_INSTALL", "install/cache"),
        ],
        movable: true,
        carried: &["."],
        ..CacheRow::named("bun")
    },
    // What programs store for themselves (`location_data`) and databases are beside these two.
    CacheRow {
        folder: Some("~/.cache/deno/remote"),
        named_by: &[CacheVariable::around("DENO_DIR", "remote")],
        carried: &["."],
        ..CacheRow::named("deno")
    },
    CacheRow {
        folder: Some("~/.cache/deno/npm"),
        named_by: &[CacheVariable::around("DENO_DIR", "npm")],
        carried: &["."],
        left_out: &["**/.deno_sync_lock"],
        ..CacheRow::named("deno-npm")
    },
    CacheRow {
        folder: Some("~/.cache/ms-playwright"),
        named_by: &[CacheVariable::itself("PLAYWRIGHT_BROWSERS_PATH")],
        carried: &["."],
        left_out: &["__dirlock", ".links"],
        ..CacheRow::named("playwright")
    },
    CacheRow {
        folder: Some("~/.cache/electron"),
        named_by: &[CacheVariable::itself("electron_config_cache")],
        movable: true,
        carried: &["."],
        ..CacheRow::named("electron")
    },
    CacheRow {
        folder: Some("~/.cache/pip"),
        named_by: &[CacheVariable::itself("PIP_CACHE_DIR")],
        movable: true,
        carried: &["http", "http-v2", "wheels"],
        ..CacheRow::named("pip")
    },
    CacheRow {
        folder: Some("~/.cache/uv"),
        named_by: &[CacheVariable::itself("UV_CACHE_DIR")],
        movable: true,
        carried: &["."],
        // Temporary environments, and what uv knows of interpreters at paths of the session.
        left_out: &["builds-v*", "environments-v*", "interpreter-v*", "**/.lock"],
        ..CacheRow::named("uv")
    },
    CacheRow {
        folder: Some("~/.cache/pypoetry"),
        named_by: &[CacheVariable::itself("POETRY_CACHE_DIR")],
        movable: true,
        carried: &["artifacts", "cache/repositories"],
        ..CacheRow::named("poetry")
    },
    CacheRow {
        folder: Some("~/.cache/pre-commit"),
        named_by: &[CacheVariable::itself("PRE_COMMIT_HOME")],
        // A database says which repository is in which folder.
        carried: &[],
        ..CacheRow::named("pre-commit")
    },
    CacheRow {
        folder: Some("~/go/pkg"),
        named_by: &[CacheVariable::around("GOPATH", "pkg")],
        carried: &["mod"],
        // Repositories of git, and the state of the checksum database.
        left_out: &["mod/cache/vcs", "mod/cache/lock", "mod/cache/download/sumdb", "mod/cache/download/**/*.partial"],
        ..CacheRow::named("go")
    },
    CacheRow {
        named_by: &[CacheVariable::itself("GOMODCACHE")],
        carried: &["."],
        left_out: &["cache/vcs", "cache/lock", "cache/download/sumdb", "cache/download/**/*.partial"],
        ..CacheRow::named("go-modules")
    },
    CacheRow {
        folder: Some("~/.cache/go-build"),
        named_by: &[CacheVariable::itself("GOCACHE")],
        movable: true,
        carried: &["."],
        left_out: &["trim.txt", "testexpire.txt"],
        ..CacheRow::named("go-build")
    },
    CacheRow {
        folder: Some("~/.m2/repository"),
        carried: &["."],
        left_out: &[".locks", "**/*.lastUpdated", "**/*.part", "**/resolver-status.properties"],
        ..CacheRow::named("maven")
    },
    CacheRow {
        folder: Some("~/.m2/wrapper"),
        named_by: &[CacheVariable::around("MAVEN_USER_HOME", "wrapper")],
        carried: &["dists"],
        left_out: &["**/*.part"],
        ..CacheRow::named("maven-wrapper")
    },
    CacheRow {
        folder: Some("~/.gradle/caches"),
        named_by: &[CacheVariable::around("GRADLE_USER_HOME", "caches")],
        // The rest are databases and locks; gradle finds these files by their hashes.
        carried: &["modules-2/files-2.1"],
        ..CacheRow::named("gradle")
    },
    CacheRow {
        folder: Some("~/.gradle/wrapper"),
        named_by: &[CacheVariable::around("GRADLE_USER_HOME", "wrapper")],
        carried: &["dists"],
        left_out: &["**/*.lck", "**/*.part"],
        ..CacheRow::named("gradle-wrapper")
    },
    CacheRow {
        folder: Some("~/.cache/coursier"),
        named_by: &[CacheVariable::itself("COURSIER_CACHE")],
        carried: &["."],
        left_out: &["**/*.lock", "**/*.part", "**/.structure.lock"],
        ..CacheRow::named("coursier")
    },
    CacheRow {
        folder: Some("~/.ivy2/cache"),
        carried: &["."],
        left_out: &["**/*.lck", "**/*.lock", "**/*.part"],
        ..CacheRow::named("ivy")
    },
    CacheRow {
        folder: Some("~/.nuget/packages"),
        named_by: &[CacheVariable::itself("NUGET_PACKAGES")],
        carried: &["."],
        ..CacheRow::named("nuget")
    },
    CacheRow {
        folder: Some("~/.gem"),
        named_by: &[CacheVariable::itself("GEM_HOME")],
        // Installed gems have programs.
        carried: &["specs"],
        ..CacheRow::named("gem")
    },
    CacheRow {
        folder: Some("~/.bundle/cache"),
        named_by: &[CacheVariable::itself("BUNDLE_USER_CACHE")],
        movable: true,
        carried: &["."],
        ..CacheRow::named("bundler")
    },
    CacheRow {
        folder: Some("~/.cache/composer"),
        named_by: &[CacheVariable::itself("COMPOSER_CACHE_DIR")],
        movable: true,
        carried: &["files", "repo"],
        ..CacheRow::named("composer")
    },
    CacheRow {
        folder: Some("~/.pub-cache"),
        named_by: &[CacheVariable::itself("PUB_CACHE")],
        carried: &["hosted", "hosted-hashes"],
        ..CacheRow::named("pub")
    },
    CacheRow {
        folder: Some("~/.cabal/packages"),
        named_by: &[CacheVariable::around("CABAL_DIR", "packages")],
        carried: &["."],
        left_out: &["**/*.lock", "**/hackage-security-lock"],
        ..CacheRow::named("cabal")
    },
    CacheRow {
        folder: Some("~/.stack"),
        named_by: &[CacheVariable::itself("STACK_ROOT")],
        // A database says what is in its folders.
        carried: &[],
        ..CacheRow::named("stack")
    },
];
