use super::super::Redactor;
use super::*;

fn file(path: &str, text: &str) -> SecretFile {
    SecretFile { path: path.to_owned(), text: text.to_owned() }
}

fn texts(text: &str) -> Vec<String> {
    let hidden = secrets_in(&file(".env", text)).into_iter().filter(|secret| secret.kept == 0);
    hidden.map(|secret| secret.text).collect()
}

#[test]
fn values_are_found_in_files_of_many_kinds() {
    for (file, values) in [
        ("API_KEY=canary-12ab34cd", &["canary-12ab34cd"][..]),
        ("export A='canary 12ab34cd' # why", &["12ab34cd", "canary 12ab34cd"]),
        ("A = \"canary-12ab34cd\"\n", &["canary-12ab34cd"]),
        (
            "A=\"first-1a2b3c4d\nsecond-5e6f7a8b\"\nB=canary-12ab34cd",
            &[
                "canary-12ab34cd",
                "first-1a2b3c4d",
                "first-1a2b3c4d\nsecond-5e6f7a8b",
                "first-1a2b3c4d second-5e6f7a8b",
                "first-1a2b3c4dsecond-5e6f7a8b",
                "second-5e6f7a8b",
                "second-5e6f7a8b\"",
            ],
        ),
        ("a: canary-12ab34cd\nb:\n  - canary-56ef78ab\n", &["canary-12ab34cd", "canary-56ef78ab"]),
        ("{\"a\": {\"b\": [\"canary-12ab34cd\"]}}", &["canary-12ab34cd"]),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nAbCdEf12==\n-----END PRIVATE KEY-----",
            &["AbCdEf12==", "MIIEvQIBADANBg"],
        ),
        ("//host/:_authToken=canary-12ab34cd", &["canary-12ab34cd"]),
        ("DB_PASSWORD=hunter2", &["hunter2"]),
        ("DATABASE_URL=postgres://user:canary12@host/db", &["canary12", "postgres://user:canary12@host/db"]),
        ("CONN=\"Server=db;Password=Hunter2Hunter9x;\"", &["Hunter2Hunter9x", "Server=db;Password=Hunter2Hunter9x;"]),
        ("KEYS=tok-99aa88bb,tok-77cc66dd", &["tok-77cc66dd", "tok-99aa88bb", "tok-99aa88bb,tok-77cc66dd"]),
        ("x = [\"tok-99aa88bb\"]", &["[\"tok-99aa88bb\"]", "[tok-99aa88bb]", "tok-99aa88bb"]),
        ("a-token-of-words", &["a-token-of-words"]),
        ("# OLD_KEY=canary-12ab34cd", &["canary-12ab34cd"]),
    ] {
        assert_eq!(texts(file), values, "{file}");
    }
    assert!(texts("host:5432:db:user:canary-12").contains(&"canary-12".to_owned()));
    assert!(texts("machine h login u password canary-12").contains(&"canary-12".to_owned()));
}

#[test]
fn ordinary_values_are_hidden_only_with_their_names() {
    for file in [
        "PORT=3000",
        "DEBUG=true",
        "NODE_ENV=development",
        "HOST=localhost",
        "URL=http://localhost:3000/a",
        "NAME=myproject",
        "BASE=https://api.example.com/v1",
        "DIR=/var/lib/data",
        "REF=${OTHER_VALUE}",
        "TZ=Europe/Berlin",
        "AWS_REGION=eu-central-1",
        "ADMIN_EMAIL=a@example.com",
        "SINCE=2024-01-01",
        "VERSION=1.2.3-beta.4",
        "SOURCES=src/components",
        "IMAGE=node:20-alpine",
        "MODEL=gpt-4o-mini",
        "NODE_OPTIONS=--max-old-space-size=4096",
        "ADDRESS=192.168.1.10",
        "GREETING=\"Hello World\"",
        "REDIS=redis://redis:6379/0",
        "FEATURES=search,payments",
        "DB_PASSWORD=postgres",
        "metadata:",
    ] {
        assert_eq!(texts(file), Vec::<String>::new(), "{file}");
    }
    let secrets = secrets_in(&file(".env", "NAME=swordfish"));
    for written in ["NAME=swordfish", "NAME: swordfish", "NAME\": \"swordfish", "NAME=\"swordfish"] {
        let secret = secrets.iter().find(|secret| secret.text == written).expect("it is hidden with its name");
        assert_eq!(&secret.text[secret.kept..], "swordfish");
    }
    assert!(secrets_in(&file(".env", "PORT=3000\nHOST=localhost")).is_empty());
}

/// A file, and what programs that read it print of its values.
const READ: &[(&str, &str, &str)] = &[
    (".env", "PASSWORD=\"\"\"sword fish pond\"\"\"", "sword fish pond"),
    (".env", "PASSWORD='''sword fish pond'''", "sword fish pond"),
    (".env", "PASSWORD=\"\"\"\nsword fish pond\nother 8a7b6c5d\n\"\"\"", "sword fish pond\nother 8a7b6c5d"),
    (".env", "export PASSWORD='sword fish pond' # why", "sword fish pond"),
    (".env", "export  PASSWORD = swordfishpond # why", "swordfishpond"),
    (".env", "PASSWORD=swordfishpond#why", "swordfishpond"),
    (".env", "PASSWORD=swordfishpond#why", "swordfishpond#why"),
    (".env", "PASSWORD=\"sword \\\"fish\\\" pond\"", "sword \"fish\" pond"),
    (".env", "PASSWORD=\"sword\\tfish\\u0021pond\"", "sword\tfish!pond"),
    (".env", "PASSWORD=\"swordfish\\npondwater\"", "swordfish\npondwater"),
    (".env", "PASSWORD='sword'\\''fish pond'", "sword'fish pond"),
    (".env", "PASSWORD=sword\\ fish\\ pond", "sword fish pond"),
    (".env", "PASSWORD=$'sword\\'fish pond'", "sword'fish pond"),
    (".env", "PASSWORD=\"swordfish\npond and water\"\nA=b", "swordfish pond and water"),
    (".env", "PASSWORD=swordfish\\\n  pondwater\n", "swordfishpondwater"),
    (".env", "PASSWORD=swordfishpond\r\nA=b\r\n", "swordfishpond"),
    (".env", "\u{feff}PASSWORD=swordfishpond\n", "swordfishpond"),
    (".env", "KEY_JSON={\"a\": \"k-9f8e7d6c5b\"}", "k-9f8e7d6c5b"),
    (".env", "DATABASE_URL=postgres://u:sw%40rdfish@h/d", "sw@rdfish"),
    ("secrets.yaml", "password: 'sword''fish pond'", "sword'fish pond"),
    ("secrets.yaml", "password: \"sword\\x21fish\\U0001F41Fpond\"", "sword!fish\u{1f41f}pond"),
    ("secrets.yaml", "a:\n  password: |\n    sword fish\n    pond 7 water\n  b: c", "sword fish\npond 7 water"),
    ("secrets.yaml", "password: >-\n  sword fish\n  pond water\nb: c", "sword fish pond water"),
    ("secrets.yaml", "password:\n  sword fish pond\nb: c", "sword fish pond"),
    ("secrets.yaml", "password: swordfish\n  pond water\nb: c", "swordfish pond water"),
    ("secrets.yaml", "passwords:\n- swordfishpond\n- otherpond\n", "swordfishpond otherpond"),
    ("secrets.yaml", "- password: swordfishpond", "swordfishpond"),
    ("secrets.yaml", "password: swordfishpond # why", "swordfishpond"),
    ("secrets.yaml", "all: {password: swordfish9x8y7z, b: c}", "swordfish9x8y7z"),
    ("secrets.toml", "password = '''\nsword fish\npondwater'''", "sword fish\npondwater"),
    ("secrets.toml", "password = \"\"\"\\\n  swordfish \\\n  pondwater\"\"\"", "swordfish pondwater"),
    ("secrets.toml", "password = \"sword\\u0066ish pond\"", "swordfish pond"),
    ("secrets.properties", "db.password=sword\\\n    fishpond", "swordfishpond"),
    ("secrets.properties", "db.password:swordfishpond", "swordfishpond"),
    ("secrets.properties", "db.password swordfishpond", "swordfishpond"),
    ("secrets.properties", "db.password = sword\\=fish\\:pond", "sword=fish:pond"),
    ("secrets.ini", "[db]\r\npassword = swordfishpond ; why\r\n", "swordfishpond"),
    ("secrets.json", "{\"password\": \"\\u0073wordfish pond\"}", "swordfish pond"),
    ("secrets.json", "{\"password\": \"\\u0073wordfish pond\"}", "\\u0073wordfish pond"),
    ("secrets.json", "// why\n{\n  \"password\": \"\\u0073wordfish pond\",\n}", "swordfish pond"),
    ("secrets.json", "{\"a\": {\"password\": [\"swordfish pond\"]}}", "swordfish pond"),
    ("secrets.json", "{\"key\": \"-----BEGIN K-----\\nMIIabcdefgh\\n-----END K-----\\n\"}", "MIIabcdefgh"),
    ("secrets.xml", "<a><password>sword&amp;fish pond</password></a>", "sword&fish pond"),
    ("secrets.xml", "<a><password><![CDATA[sword<fish pond]]></password></a>", "sword<fish pond"),
    ("secrets.xml", "<a><add key=\"DbPassword\" value=\"sword fish pond\"/></a>", "sword fish pond"),
    ("secrets.xml", "<a><entry key=\"db.password\">sword fish pond</entry></a>", "sword fish pond"),
    ("secrets.xml", "<?xml version=\"1.0\"?>\n<!-- <password>sword fish pond</password> -->", "sword fish pond"),
    ("secrets.plist", "<dict><key>ApiToken</key>\n <string>sword fish pond</string></dict>", "sword fish pond"),
    ("secrets.csv", "user,password\nann,swordfishpond\n", "swordfishpond"),
    ("secrets.csv", "User name,Access key ID,Secret access key\nann,AB,sword/fish+pond\n", "sword/fish+pond"),
    ("secrets.csv", "name,value\nDB_PASSWORD,swordfishpond\n", "swordfishpond"),
    (".netrc", "machine h\n  login u\n  password swordfishpond\n", "swordfishpond"),
    (".netrc", "machine h login u password\nswordfishpond\n", "swordfishpond"),
    (".netrc", "machine h login u password \"sword\\\"fishpond\"", "sword\"fishpond"),
    (".pgpass", "h:5432:d:u:sword\\:fishpond", "sword:fishpond"),
    (".htpasswd", "ann:$apr1$sWoRdFi$ShPoNd12345", "$apr1$sWoRdFi$ShPoNd12345"),
    (".htpasswd", "ann:{SHA}c3dvcmRmaXNo=", "{SHA}c3dvcmRmaXNo="),
    (".my.cnf", "[client]\npassword=\"sword#fishpond\"", "sword#fishpond"),
    (".npmrc", "//h/:_password=\"c3dvcmRmaXNo\"", "c3dvcmRmaXNo"),
    ("secrets.js", "export const API_KEY = 'k-9f8e7d6c5b';", "k-9f8e7d6c5b"),
    ("secrets.ts", "export const apiKey: string = `k-9f8e7d6c5b`;", "k-9f8e7d6c5b"),
    ("secrets.ts", "export default {\n  apiKey: \"k-9f8e7d6c5b\",\n}", "k-9f8e7d6c5b"),
    ("secrets.py", "API_KEY = b\"k-9f8e7d6c5b\"", "k-9f8e7d6c5b"),
    ("secrets.py", "config['api_key'] = 'k-9f8e7d6c5b'", "k-9f8e7d6c5b"),
    ("secrets.py", "TOKEN = \"\"\"\nk-9f8e7d6c5b\n\"\"\"", "k-9f8e7d6c5b"),
    ("secrets.rb", "{ :api_key => 'k-9f8e7d6c5b' }", "k-9f8e7d6c5b"),
    ("wp-config.php", "define( 'DB_PASSWORD', 'k9!f8e7d6c5b' );", "k9!f8e7d6c5b"),
    ("secrets.h", "#define WIFI_PASSWORD \"k-9f8e7d6c5b\"", "k-9f8e7d6c5b"),
    ("secrets.py", "PASSWORD = 'swordfish pond'", "PASSWORD = 'swordfish pond'"),
];

#[test]
fn no_part_of_a_value_is_shown_however_its_file_writes_it() {
    let mut wrong = Vec::new();
    for (path, text, printed) in READ {
        let redactor = Redactor::default();
        redactor.also_hide_files(&[file(path, text)]);
        for output in [(*printed).to_owned(), format!("it is {printed}, really")] {
            let shown = redactor.redact_known(&output).into_owned();
            let rest = shown.replace("[secret]", "").replace("PASSWORD", "");
            let mut words = printed.split(|letter: char| !letter.is_alphanumeric()).filter(|word| *word != "PASSWORD");
            if words.any(|word| word.len() > 3 && rest.contains(word)) {
                wrong.push(format!("{path}: {text:?}\n  printed: {output:?}\n  shown: {shown:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_in_any_encoding_is_read() {
    let text = "PASSWORD=schwertfisch-ß\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = |mark: &[u8], text: &[u8]| [mark, text].concat();
    for bytes in [
        marked(&[0xff, 0xfe], &wide),
        marked(&[0xfe, 0xff], &big),
        marked(&[0xef, 0xbb, 0xbf], text.as_bytes()),
        text.replace('\n', "\r\n").into_bytes(),
    ] {
        let redactor = Redactor::default();
        redactor.also_hide_files(&[SecretFile::of(".env".to_owned(), &bytes)]);
        assert_eq!(redactor.redact_known("it is schwertfisch-ß."), "it is [secret].", "{bytes:?}");
    }
}

#[test]
fn source_code_beside_values_is_shown_as_it_is() {
    let code = "import os\nfrom a import b\n\ndef token_of(name, default='anonymous'):\n    \"\"\"Returns the access token.\"\"\"\n    \
                kind = \"authorization\"\n    if token == 'something-else-4711':\n        raise ValueError('no token for {name}')\n    \
                return os.environ['API_TOKEN_NAME_1x2y3z4']\n";
    let redactor = Redactor::default();
    redactor.also_hide_files(&[file("secrets.py", code)]);
    assert_eq!(redactor.redact_known(code), code);
}

#[test]
fn ordinary_output_stays_as_it_is() {
    let env = "NODE_ENV=production\nHOST=localhost\nPORT=3000\nDEBUG=true\nDB_USER=postgres\nDB_PASSWORD=postgres\nADMIN=alice\n\
               BASE_URL=https://api.example.com/v1\nLOG_DIR=/var/log/app\nAPP_NAME=shopfront\nREGION=eu-central-1\n\
               GREETING=\"Hello World\"\nSINCE=2024-01-01\nIMAGE=node:20-alpine\nFEATURES=search,payments\nEMPTY=\nTIMEOUT=30s\n";
    let redactor = Redactor::default();
    redactor.also_hide_files(&[file(".env", env)]);
    let output = "alice runs shopfront in production on localhost:3000 as postgres, debug true\n\
                  GET https://api.example.com/v1/search 200 in 30s, logs in /var/log/app/today.log\n\
                  Hello World from eu-central-1 since 2024-01-01\nFROM node:20-alpine\nhello\nworld\n";
    assert_eq!(redactor.redact(output), output);
}

#[test]
fn a_value_is_hidden_behind_its_name_in_other_case() {
    let redactor = Redactor::default();
    redactor.also_hide_files(&[file(".env", "api_key = 'k-9f8e7d6c5b'\nname = swordfish\n")]);
    let hidden = redactor.redact_known("API_KEY = 'K-9F8E7D6C5B'\nthe Name swordfish, name = swordfish").into_owned();
    assert_eq!(hidden, "API_KEY = '[secret]'\nthe Name swordfish, name = [secret]");
}
