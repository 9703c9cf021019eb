//! Which model is taken: flags, environment, configuration, keys; and what is said where none can be.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::place::{KEY, Place, said};

fn models(mut command: Command) -> Value {
    let said = said({
        command.arg("--json");
        command
    });
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains(KEY));
    serde_json::from_str(&said.out).expect("it is a record")
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("1"),
        ScriptedTurn::text("2"),
        ScriptedTurn::text("3"),
    ]));
    let url = model.base_url(Wire::Chat);
    place.put(
        "home/.config/haft/config.toml",
        &format!("[model]\nname = \"of-file\"\nwire = \"chat\"\nbase_url = \"{url}\"\nkey_env = \"MY_SECRET_THING\"\n"),
    );
    let run = |flags: &[&str], environment: &[(&str, &str)]| {
        let mut command = place.bare(&["run", "x"]);
        command.args(flags).env("MY_SECRET_THING", KEY).envs(environment.iter().copied());
        let said = said(command);
        assert_eq!(said.code, 0, "{}", said.err);
    };
    run(&[], &[]);
    run(&[], &[("HAFT_MODEL", "of-environment"), ("HAFT_API_KEY", "another-key-of-mine")]);
    run(&["--model", "of-flag"], &[("HAFT_MODEL", "of-environment")]);
    let asked = model.requests();
    assert_eq!(asked.iter().map(|asked| asked.model()).collect::<Vec<_>>(), ["of-file", "of-environment", "of-flag"]);
    let keys: Vec<_> = asked.iter().map(|asked| asked.header("authorization").unwrap_or_default()).collect();
    assert_eq!(keys, [&format!("Bearer {KEY}"), "Bearer another-key-of-mine", &format!("Bearer {KEY}")]);
}

#[test]
fn a_key_of_a_provider_goes_to_nobody_else() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("1"), ScriptedTurn::text("2")]));
    for wire in [Wire::Anthropic, Wire::Chat] {
        let mut command = place.bare(&["run", "x", "--model", "m", "--wire", wire.name(), "--base-url"]);
        command.arg(model.base_url(wire)).env("ANTHROPIC_API_KEY", KEY).env("OPENAI_API_KEY", KEY);
        assert_eq!(said(command).code, 0);
    }
    for asked in model.requests() {
        assert!(!format!("{:?}", asked.headers).contains(KEY), "{:?}", asked.headers);
    }
}

#[test]
fn the_key_of_the_file_is_not_for_the_model_of_another_provider() {
    let place = Place::new();
    place
        .put("home/.config/haft/config.toml", "[model]\nname = \"claude-sonnet-4-5\"\nkey_env = \"MY_SECRET_THING\"\n");
    for (model, wire, variable) in [("gpt-5.2", "responses", "OPENAI_API_KEY"), ("x", "gemini", "GEMINI_API_KEY")] {
        let mut command = place.bare(&["run", "x", "--model", model, "--wire", wire]);
        command.env("MY_SECRET_THING", KEY);
        let said = said(command);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(&format!("the key is missing: set {variable}")), "{}", said.err);
    }
    assert!(place.sessions().is_empty(), "nothing was begun");
}

#[test]
fn the_server_that_the_file_names_answers_at_the_address_of_the_file() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("1"),
        ScriptedTurn::text("2"),
        ScriptedTurn::text("3"),
    ]));
    let url = model.base_url(Wire::Chat);
    let file = |server: &str| {
        let text = format!("[model]\nname = \"m\"\nbase_url = \"{url}\"\n{server}");
        place.put("home/.config/haft/config.toml", &text);
    };
    let run = |flags: &[&str]| {
        let mut command = place.bare(&["run", "x"]);
        command.args(flags);
        let said = said(command);
        assert_eq!(said.code, 0, "{}", said.err);
    };
    file("");
    run(&[]);
    file("server = \"openai\"\n");
    run(&[]);
    run(&["--base-url", &url.replace("127.0.0.1", "localhost")]);
    let roles: Vec<Value> = model.requests().iter().map(|asked| asked.body["messages"][0]["role"].clone()).collect();
    assert_eq!(roles, ["system", "developer", "system"]);
    file("server = \"open-ai\"\n");
    let said = said(place.bare(&["run", "x"]));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("config.toml:4: ") && said.err.contains("did you mean `openai`?"), "{}", said.err);
}

#[test]
fn a_file_of_keys_counts_only_where_nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.put("home/.config/haft/keys.toml", &format!("HAFT_API_KEY = \"{KEY}\"\n"));
    let mode = |mode| {
        let path = place.path("home/.config/haft/keys.toml");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("1")]));
    let url = model.base_url(Wire::Chat);
    let run = || said(place.bare(&["run", "x", "--model", "m", "--base-url", &url]));
    mode(0o644);
    let refused = run();
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("others may read it") && refused.err.contains("chmod 600"), "{}", refused.err);
    mode(0o600);
    assert_eq!(run().code, 0);
    assert_eq!(model.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[test]
fn what_is_missing_is_said_with_what_to_set() {
    let place = Place::new();
    let told = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = place.bare(arguments);
        command.envs(environment.iter().copied());
        let said = said(command);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(!said.err.contains(KEY), "{}", said.err);
        said.err
    };
    let err = told(&["run", "x"], &[("ANTHROPIC_API_KEY", KEY)]);
    assert!(err.contains("ANTHROPIC_API_KEY is set, but no model is named") && err.contains("--model"), "{err}");
    let both = [("MISTRAL_API_KEY", KEY), ("GROQ_API_KEY", KEY)];
    let err = told(&["run", "x", "--model", "llama-unheard-of"], &both);
    assert!(err.contains("keys of Groq, Mistral") && err.contains("--base-url"), "{err}");
    let err = told(&["run", "x", "--model", "m"], &[("HAFT_API_KEY", KEY)]);
    assert!(err.contains("haft does not know which provider it belongs to"), "{err}");
    let err = told(&["run", "x", "--model", "m", "--wire", "anthropic"], &[]);
    assert!(err.contains("set ANTHROPIC_API_KEY"), "{err}");
    let err = told(&["run", "x", "--model", "m", "--base-url", &format!("https://me:{KEY}@example.org")], &[]);
    assert!(err.contains("put the key into HAFT_API_KEY"), "{err}");
    let err = told(&["run", "x", "--model", "m", "--base-url", "example.org"], &[]);
    assert!(err.contains("is not the address of a provider"), "{err}");
    let err = told(&["run", "x"], &[("HAFT_WIRE", "chatty")]);
    assert!(err.contains("HAFT_WIRE: there is no wire \"chatty\""), "{err}");
    assert!(place.sessions().is_empty(), "nothing was begun");
}

#[test]
fn what_cannot_be_used_is_found_when_the_model_is_chosen() {
    let place = Place::new();
    let told = |model: &str, url: &str| {
        let said = said(place.bare(&["run", "x", "--model", model, "--base-url", url]));
        assert_eq!(said.code, 2, "{url}: {}", said.err);
        said.err
    };
    for (url, why) in [
        ("http://127.0.0.1:99999/v1", "invalid port number"),
        ("http://[::1%25lo]:80/v1", "invalid IPv6 address"),
        ("http://xn--/v1", "invalid international domain name"),
        ("ftp://127.0.0.1/v1", "begins with \"ftp\", which haft does not support"),
    ] {
        let err = told("m", url);
        assert!(err.contains(why) && err.contains("http://HOST:PORT"), "{err}");
    }
    for name in ["", " \t"] {
        assert!(told(name, "http://127.0.0.1:9/v1").contains("the name of the model is empty"));
    }
    assert!(place.sessions().is_empty(), "nothing was begun");

    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("1")]));
    let url = model.base_url(Wire::Chat).replace("http://", "HTTP://");
    let said = said(place.bare(&["run", "x", "--model", "m", "--base-url", &url]));
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_key_in_the_place_of_its_name_is_not_repeated() {
    let place = Place::new();
    for (key_env, told) in [
        ("sk-canary-4711", "is not the name of a variable; write one there, such as OPENAI_API_KEY"),
        ("gsk_canaryCanary4711", "names a variable that is not set"),
        ("MY_OWN_KEY", "the key is missing: MY_OWN_KEY, named by key_env in "),
    ] {
        let config = format!("[model]\nname = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = \"{key_env}\"\n");
        place.put("home/.config/haft/config.toml", &config);
        let said = said(place.bare(&["run", "x"]));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(told) && !said.err.contains("anary"), "{}", said.err);
    }
}

#[test]
fn a_variable_that_is_no_text_is_not_taken_for_none() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("1")]));
    let url = model.base_url(Wire::Chat);
    let at_url = ["run", "x", "--model", "m", "--base-url", &url];
    for (name, arguments) in [
        ("HAFT_API_KEY", &at_url[..]),
        ("HAFT_MODEL", &at_url[..]),
        ("MISTRAL_API_KEY", &["run", "x", "--model", "mistral-large"]),
        ("MISTRAL_API_KEY", &["models"]),
    ] {
        let mut command = place.bare(arguments);
        command.env(name, std::ffi::OsStr::from_bytes(b"sk-canary\xff"));
        let said = said(command);
        assert_eq!(said.code, 2, "{name}: {}", said.err);
        let told = format!("haft: {name} is set, but not to text in UTF-8; set it again, or unset it\n");
        assert_eq!(said.err, told);
    }
    assert!(model.requests().is_empty() && place.sessions().is_empty(), "nothing was begun");
}

#[test]
fn a_proxy_that_nobody_can_go_through_is_said_before_anything_is_begun() {
    let place = Place::new();
    let arguments = ["run", "x", "--model", "m", "--base-url", "http://model.example/v1"];
    for (address, why) in [
        ("http://me:canary@proxy:99999", "invalid port number"),
        ("socks5://me:canary@proxy", "it begins with \"socks5\", which is not supported"),
        ("me:canary@", "empty host"),
    ] {
        let mut command = place.bare(&arguments);
        command.env("http_proxy", address);
        let said = said(command);
        let told = format!(
            "haft: http_proxy is not the address of a proxy: {why}; give it as http://HOST:PORT, or unset it\n"
        );
        assert_eq!((said.code, said.err), (2, told), "{address}");
    }
    assert!(place.sessions().is_empty(), "nothing was begun");
}

#[test]
fn models_are_listed_with_where_they_are_and_what_run_would_take() {
    let place = Place::new();
    let server = Listing::start(r#"{"object":"list","data":[{"id":"only-one"}]}"#);
    let mut command = place.bare(&["models", "--base-url", &server.url]);
    command.env("HAFT_API_KEY", KEY);
    let list = models(command);
    let first = &list["providers"][0];
    assert_eq!((&first["models"], &first["from"]), (&json!(["only-one"]), &json!("key: HAFT_API_KEY")), "{list}");
    assert_eq!(list["chosen"], json!({ "model": "only-one", "wire": "chat", "base_url": server.url }));

    let server = Listing::start(r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#);
    let list = models(place.bare(&["models", "--base-url", &server.url]));
    assert_eq!(list["providers"][0]["models"], json!(["a", "b"]));
    assert_eq!(server.times_asked(), 1, "who was asked for its list said it already");
    assert!(list["needs"].as_str().is_some_and(|words| words.contains("has a, b; name one with --model")), "{list}");

    let server = Listing::start(r#"{"data":[{"id":"a\nhaft run would use b"},{"id":"c"}]}"#);
    let listed = said(place.bare(&["models", "--base-url", &server.url]));
    let all = format!("{}{}", listed.out, listed.err);
    assert!(all.contains("  a\\nhaft run") && !all.contains("\nhaft run would use"), "{all}");

    let server = Listing::start("<html>");
    let list = models(place.bare(&["models", "--base-url", &server.url]));
    assert!(
        list["providers"][0]["error"].as_str().is_some_and(|words| words.contains("not a list of models")),
        "{list}"
    );
}

/// A server that answers every request with the same JSON.
struct Listing {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Listing {
    fn start(body: &'static str) -> Self {
        use std::io::{BufRead, BufReader, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let url = format!("http://{}/v1", listener.local_addr().expect("it listens"));
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                counted.fetch_add(1, Ordering::SeqCst);
                let head = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
                assert!(head.count() > 0);
                let length = body.len();
                // A client that is gone does not want it.
                let _ =
                    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            }
        });
        Self { url, asked }
    }

    fn times_asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
