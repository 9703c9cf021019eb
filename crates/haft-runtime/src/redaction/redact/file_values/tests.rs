use super::super::Redactor;
use super::*;

fn file(path: &str, text: &str) -> SecretFile {
    SecretFile::of(path.to_owned(), text.as_bytes())
}

fn texts(text: &str) -> Vec<String> {
    let hidden = secrets_in(&file(".env", text)).0.into_iter().filter(|secret| secret.kept == 0);
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
    let secrets = secrets_in(&file(".env", "NAME=swordfish")).0;
    for written in ["NAME=swordfish", "NAME: swordfish", "NAME\": \"swordfish", "NAME=\"swordfish"] {
        let secret = secrets.iter().find(|secret| secret.text == written).expect("it is hidden with its name");
        assert_eq!(&secret.text[secret.kept..], "swordfish");
    }
    assert!(secrets_in(&file(".env", "PORT=3000\nHOST=localhost")).0.is_empty());
}

#[test]
fn a_short_value_is_hidden_behind_a_telling_name_in_the_forms_that_programs_print() {
    let secrets = secrets_in(&file(".env", "C_PASSWORD=k9Xw3")).0;
    for between in ["=", ": ", " -> ", "\t", "|", " | ", " is ", " => ", ";", "==", " := ", "/", "\",\"", ", "] {
        let written = format!("C_PASSWORD{between}k9Xw3");
        let secret = secrets.iter().find(|secret| secret.text == written).unwrap_or_else(|| panic!("{written}"));
        assert_eq!(&secret.text[secret.kept..], "k9Xw3");
    }
    assert!(secrets.iter().all(|secret| secret.kept > 0), "by itself it may be an ordinary word");
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
    ("secrets.yaml", "list:\n  - sword-11-fish-22\n", "  - sword-11-fish-22"),
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
    ("secrets.toml", "api_keys = [\"rlrwzbqcabugjmgep\"]", "rlrwzbqcabugjmgep"),
    ("secrets.toml", "passwords = [\"a\", \"rlrwzbqcabugjmgep\"]", "rlrwzbqcabugjmgep"),
    ("secrets.toml", "db = [{ password = \"rlrwzbqcabugjmgep\" }]", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "passwords: [rlrwzbqcabugjmgep]", "rlrwzbqcabugjmgep"),
    ("terraform.tfvars", "passwords = [\"rlrwzbqcabugjmgep\"]", "rlrwzbqcabugjmgep"),
    (".env", "PASSWORD=[\"rlrwzbqcabugjmgep\"]", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "password: <%= ENV[\"X\"] || \"rlrwzbqcabugjmgep\" %>", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "password: <%= ENV.fetch(\"X\", \"rlrwzbqcabugjmgep\") %>", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "password: \"{{ x | default('rlrwzbqcabugjmgep') }}\"", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "- name: DB_PASSWORD\n  value: rlrwzbqcabugjmgep", "rlrwzbqcabugjmgep"),
    ("secrets.json", "[{\"name\": \"DB_PASSWORD\", \"value\": \"rlrwzbqcabugjmgep\"}]", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "password: !!str rlrwzbqcabugjmgep", "rlrwzbqcabugjmgep"),
    ("secrets.yml", "db: {password: rlrwzbqcabugjmgep}", "rlrwzbqcabugjmgep"),
    (".env", "AUTHORIZATION=\"Bearer rlrwzbqcabugjmgep\"", "rlrwzbqcabugjmgep"),
    (".env", "DB_PASSWORD=${DB_PW:-k9f8e7d6c5b}", "k9f8e7d6c5b"),
    (".env", "DB_PASSWORD=\"${DB_PW-k9f8e7d6c5b}\"", "k9f8e7d6c5b"),
    (".env", "DB_PASSWORD=${DB_PW:=k9f8e7d6c5b}", "k9f8e7d6c5b"),
    (".env", "OTHER=${DB_PW:-k9f8e7d6c5b}", "k9f8e7d6c5b"),
    ("secrets.yml", "password: ${DB_PW:k9f8e7d6c5b}", "k9f8e7d6c5b"),
    ("application-secrets.properties", "db.password=${db.pw:k9f8e7d6c5b}", "k9f8e7d6c5b"),
    (".env", "FOO='k93\"hq7dana\"81xpqlm'", "k93\"hq7dana\"81xpqlm"),
    (".env", "FOO=\"k93'hq7dana!81x$pqlm\"", "k93'hq7dana!81x$pqlm"),
    ("secrets.json", "{\"esc\": \"k93\\\"hq7dana\\\\81xpqlm\"}", "k93\"hq7dana\\81xpqlm"),
    (".env", "PASSPHRASE=\"pa ss dana02 w0rd!x9\"", "pa\tss\tdana02\tw0rd!x9"),
    (".env", "PASSPHRASE=\"pa ss dana02 w0rd!x9\"", "pa | ss | dana02 | w0rd!x9"),
    (".env", "PASSPHRASE=\"pa ss dana02 w0rd!x9\"", "pa   ss   dana02   w0rd!x9"),
    // What a shell makes of names of variables.
    (".env", "PASSWORD=\"k93hq7dana$xpq81\"", "k93hq7dana"),
    (".env", "PASSWORD=k93hq7dana$xpq81", "k93hq7dana"),
    (".env", "PASSWORD=\"k93hq7$x-dana81xpq\"", "k93hq7-dana81xpq"),
    (".env", "PASSWORD=\"k93hq7dana${x}81xpqlm7\"", "k93hq7dana81xpqlm7"),
    (".env", "PASSWORD=\"k93hq7dana$1xpqlm81\"", "k93hq7danaxpqlm81"),
    (".env", "PASSWORD=\"k93hq7dana$USER-xpqlm8111\"", "k93hq7danaann-xpqlm8111"),
    (".env", "PASSWORD=\"${x:-k93hq7dana}81xp\"", "k93hq7dana81xp"),
    (".env", "PW=k93hq7dana\nDB=\"postgres://u:${PW}81@db/x\"", "k93hq7dana81"),
    (".env", "export TOKEN=\"k93hq7dana`id -u`81xpqlmno\"", "k93hq7dana081xpqlmno"),
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

/// A file with a value in a comment, and the value.
const COMMENTED: &[(&str, &str, &str)] = &[
    (".env", "A=b\n# API_KEY=k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    (".env", "# old: API_KEY=k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    (".env", "# old: DB_PASSWORD=swordfishpond", "swordfishpond"),
    (".env", "#DB_PASSWORD=swordfishpond", "swordfishpond"),
    (".env", "## export DB_PASSWORD='sword fish pond' (until May)", "sword fish pond"),
    (".env", "# was k-9f8e7d6c5b until May", "k-9f8e7d6c5b"),
    (".env", "PORT=3000 # was k-9f8e7d6c5b until May", "k-9f8e7d6c5b"),
    (".env", "PORT=3000 # DB_PASSWORD=swordfishpond", "swordfishpond"),
    (".env", "# PORT=3000 # DB_PASSWORD=swordfishpond", "swordfishpond"),
    (".env", "# old password: k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    (".env", "# password: 'sword fish pond'", "sword fish pond"),
    (".env", "# KEY=\"sword fish\n# pond water 7\"", "sword fish\npond water 7"),
    (".env", "# -----BEGIN PRIVATE KEY-----\n# MIIabcdefgh\n# -----END PRIVATE KEY-----", "MIIabcdefgh"),
    (".env", "# see postgres://ann:swordfishpond@db/app", "swordfishpond"),
    (".env", "REM DB_PASSWORD=swordfishpond", "swordfishpond"),
    ("secrets.yaml", "# password: k-9f8e7d6c5b\na: b", "k-9f8e7d6c5b"),
    ("secrets.yaml", "a: b # token: k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    ("secrets.yaml", "# db:\n#   password: \"sword fish pond\"\n", "sword fish pond"),
    ("secrets.yaml", "# password: |\n#   k-9f8e7d6c5b\n#   k-5b4c3d2e1f", "k-9f8e7d6c5b\nk-5b4c3d2e1f"),
    ("secrets.yaml", "# tokens:\n# - k-9f8e7d6c5b\n", "k-9f8e7d6c5b"),
    ("secrets.yaml", "{# token: k-9f8e7d6c5b #}\n", "k-9f8e7d6c5b"),
    ("secrets.toml", "# password = \"sword fish pond\"", "sword fish pond"),
    ("secrets.ini", "; password = swordfishpond", "swordfishpond"),
    ("secrets.ini", "a = b ; password = swordfishpond", "swordfishpond"),
    ("secrets.properties", "! db.password=swordfishpond", "swordfishpond"),
    ("secrets.properties", "// db.password = swordfishpond", "swordfishpond"),
    ("secrets.json", "{\n // \"password\": \"sword fish pond\",\n \"a\": 1 }", "sword fish pond"),
    ("secrets.json", "{ \"a\": 1 /* \"password\": \"sword fish pond\" */ }", "sword fish pond"),
    ("secrets.json", "{\n /*\n * password: \"sword fish pond\"\n */\n \"a\": 1 }", "sword fish pond"),
    ("secrets.json", "{\"_comment\": \"old: API_KEY=swordfishpond\"}", "swordfishpond"),
    ("secrets.json", "{\"_comment\": \"the password was k-9f8e7d6c5b\"}", "k-9f8e7d6c5b"),
    ("secrets.xml", "<!-- password = swordfishpond -->\n<a/>", "swordfishpond"),
    ("secrets.xml", "<a/><!-- token: k-9f8e7d6c5b -->", "k-9f8e7d6c5b"),
    ("secrets.xml", "<a>\n<!--\n<password>sword fish pond</password>\n-->\n</a>", "sword fish pond"),
    ("secrets.xml", "<a>\n<!--\n  password = swordfishpond\n-->\n</a>", "swordfishpond"),
    ("secrets.plist", "<!-- <key>ApiToken</key><string>sword fish pond</string> -->", "sword fish pond"),
    ("secrets.csv", "user,password\n# ann,swordfishpond\n", "swordfishpond"),
    (".netrc", "# machine h login u password swordfishpond", "swordfishpond"),
    (".pgpass", "#h:5432:d:u:swordfishpond", "swordfishpond"),
    (".htpasswd", "#ann:$apr1$sWoRdFi$ShPoNd12345", "$apr1$sWoRdFi$ShPoNd12345"),
    (".npmrc", "; //h/:_authToken=k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    ("secrets.js", "// apiKey: 'k-9f8e7d6c5b'", "k-9f8e7d6c5b"),
    ("secrets.py", "# old api_key: k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    ("secrets.py", "x = 1  # API_KEY=k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    ("secrets.ts", "/* token = k-9f8e7d6c5b */", "k-9f8e7d6c5b"),
    ("secrets.sh", "#API_KEY=k-9f8e7d6c5b", "k-9f8e7d6c5b"),
    ("wp-config.php", "// define('DB_PASSWORD', 'k9!f8e7d6c5b');", "k9!f8e7d6c5b"),
];

#[test]
fn a_value_in_a_comment_is_hidden_in_every_kind_of_file() {
    let mut wrong = Vec::new();
    for (path, text, value) in COMMENTED {
        let redactor = Redactor::default();
        redactor.also_hide_files(&[file(path, text)]);
        let shown = redactor.redact_known(&format!("it is\n{value}\nreally")).into_owned();
        if value.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.len() > 3 && shown.contains(word)) {
            wrong.push(format!("{path}: {text:?}: {shown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files as projects have them.
const ORDINARY_FILES: &[(&str, &str)] = &[
    (
        ".env",
        "# Copy this file and fill it in. The token: required, see the documentation.\n# password: ask Ann\n\
         # Note: something else is needed for production\n# Token required\n#todo:something\n#something\n\
         # Use the password of your account manager; the password must have 12 letters\n\
         NODE_ENV=test\nUSER=admin\nDEBUG=true\nPORT=3000\nLOG_LEVEL=info\nTZ=UTC\nCI=1\nHOST=0.0.0.0\nTIMEOUT=30s\n\
         VERSION=v1.2.3\nPYTHONPATH=src # where the sources are\nRUST_LOG=debug\nDJANGO_SETTINGS_MODULE=app.settings\n",
    ),
    (
        ".env.test",
        "DATABASE_URL=postgres://postgres:postgres@localhost:5432/app_test\nREDIS_URL=redis://redis:6379/0\n\
         DB_PASSWORD=postgres\nPOSTGRES_USER=postgres\nMYSQL_ROOT_PASSWORD=root\nAMQP_URL=amqp://guest:guest@rabbitmq:5672\n\
         DATABASE_URI=sqlite:///db.sqlite3\nPRISMA_DATABASE_URL=file:./dev.db\n",
    ),
    (
        ".env.local",
        "COOKIE_DOMAIN=example.com\nSESSION_COOKIE_NAME=sessionid\nJWT_ISSUER=https://auth.example.com\n\
         JWT_ALGORITHM=HS256\nACCESS_TOKEN_EXPIRE_MINUTES=30\nPASSWORD_RESET_URL=https://example.com/reset\n\
         SECRETS_DIR=/run/secrets\nAPI_KEY_HEADER=X-Api-Key\nCACHE_KEY_PREFIX=shopfront\nPRIMARY_KEY=identifier\n\
         TOKENIZER=bert-base-uncased\nMAX_TOKENS=4096\nTOKENIZERS_PARALLELISM=false\nSSH_PRIVATE_KEY=~/.ssh/id_rsa\n\
         PASSWORD_HASHER=argon2\ncookieDomain=example.com\n",
    ),
    ("secrets.yml", "user: admin\nname: express\ntype: module\nlevel: warning\nimage: postgres\nenabled: true\n"),
    (".npmrc", "save-exact=true\nfund=false\nregistry=https://registry.npmjs.org/\nengine-strict=true\n"),
];

/// What programs print on an ordinary day.
const ORDINARY_OUTPUT: &str = "\
   Compiling express v1.2.3 (module)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 30s\n\
running 12 tests\ntest session::expires ... ok\ntest something::else ... FAILED\n\
test result: FAILED. 11 passed; 1 failed; 0 ignored; finished in 0.30s\n\
> shopfront@1.2.3 test\n> NODE_ENV=test RUST_LOG=debug jest --ci\nPASS src/admin.test.js\nadded 4096 packages in 30s\n\
npm warn deprecated example@1.2.3: required by express\nnpm error code ERESOLVE\n\
============================= test session starts ==============================\nplatform linux -- Python 3.12\n\
django: version 5.0, settings: app.settings\ntests/test_login.py::test_admin PASSED   [100%]\n\
E   AssertionError: user admin has no role postgres on localhost:5432\nINFO: listening on 0.0.0.0:3000 as user admin\n\
connected to redis://redis:6379/0 and sqlite:///db.sqlite3 and file:./dev.db, cookie sessionid for example.com\n\
GET https://auth.example.com/reset 200; HS256; X-Api-Key; argon2; bert-base-uncased; identifier; /run/secrets\n\
postgres-1  | database system is ready; role root, guest on rabbitmq:5672\nask Ann; password must; required; something\n\
the image postgres, the name express, type module, level warning\nregistry=https://registry.npmjs.org/\n";

#[test]
fn ordinary_files_change_nothing_in_ordinary_output() {
    for (path, text) in ORDINARY_FILES {
        let redactor = Redactor::default();
        redactor.also_hide_files(&[file(path, text)]);
        let shown = redactor.redact(ORDINARY_OUTPUT).into_owned();
        let changed: Vec<_> = shown.lines().zip(ORDINARY_OUTPUT.lines()).filter(|(shown, was)| shown != was).collect();
        assert_eq!(changed, [], "{path}");
    }
}

#[test]
fn what_is_said_of_a_secret_is_told_from_the_secret() {
    for name in
        ["PASSWORD", "API_KEY", "apiKey", "SLACK_WEBHOOK_URL", "DB_PASS", "token", "name_of_token", "KEY", "url_key"]
    {
        assert!(names_secret(name), "{name}");
    }
    for name in
        ["COOKIE_DOMAIN", "cookieDomain", "DATABASE_URL", "TOKENIZER", "CACHE_KEY", "PASSWORD_FILE", "jwt.issuer"]
    {
        assert!(!names_secret(name), "{name}");
    }
}

/// Settings that hold secrets among other things, and what they show of an output.
const SETTINGS: &[(&str, &str, &str, &str)] = &[
    (
        "gradle.properties",
        "org.gradle.jvmargs=-Xmx2048m8a7b6c5d\nsigningPassword=k-9f8e7d6c5b\nartifactory_password=swordfish\nversionName=3.2.1-rc4x5y6z\n",
        "-Xmx2048m8a7b6c5d k-9f8e7d6c5b swordfish 3.2.1-rc4x5y6z artifactory_password=swordfish",
        "-Xmx2048m8a7b6c5d [secret] swordfish 3.2.1-rc4x5y6z artifactory_password=[secret]",
    ),
    (
        "gradle.properties.bak",
        "a=b9f8e7d6c5\nnpmToken = k-9f8e7d6c5b\n",
        "b9f8e7d6c5 k-9f8e7d6c5b",
        "b9f8e7d6c5 [secret]",
    ),
    (
        "tokens.json",
        "{\"color\": {\"primary\": {\"value\": \"#1a2b3c4d\", \"sortKey\": \"secondary\"}}, \"access_token\": \"k-9f8e7d6c5b\"}",
        "#1a2b3c4d secondary k-9f8e7d6c5b",
        "#1a2b3c4d secondary [secret]",
    ),
    (
        "credentials",
        "[default]\nregion = eu-1a2b3c4d\naws_secret_access_key = k9f8e7d6c5b4a3\n",
        "eu-1a2b3c4d k9f8e7d6c5b4a3",
        "eu-1a2b3c4d [secret]",
    ),
];

#[test]
fn of_settings_only_what_telling_names_say_is_hidden() {
    for (path, text, output, shown) in SETTINGS {
        let redactor = Redactor::default();
        redactor.also_hide_files(&[file(path, text)]);
        assert_eq!(redactor.redact_known(output), *shown, "{path}");
    }
}

/// Lines of a secret file whose values are found in any output, and are shown there.
const HARMLESS: &[&str] = &[
    "DB_PASSWORD=username",
    "SECRET_KEY=development",
    "API_KEY=application",
    "PASSWORD=Password",
    "TOKEN=authentication_token_here",
    "API_TOKEN=your-key-here",
    "API_TOKEN=<your-token>",
    "PASSWORD=changeme",
    "PASSWORD=change_me",
    "API_KEY=xxxxxxxxxxxx",
    "API_KEY=sk-xxxxxxxxxxxx",
    "GIT_COMMIT=9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
    "COMMIT_SHA=9f8e7d6c5b4a",
    "MODEL=claude-3x5y7z-20240620a1",
    "OPENAI_MODEL=gpt4o2024a8b7c6",
    "GOOGLE_PROJECT_ID=shop-4f9d27ab31",
    "OAUTH_CLIENT_ID=1234567890-a1b2c3d4e5f6.apps.example.com",
    "VAPID_PUBLIC_KEY=BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA",
    "STRIPE_PUBLISHABLE_KEY=pk-9f8e7d6c5b4a",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
];

#[test]
fn what_is_public_or_an_everyday_word_or_still_to_be_filled_in_is_shown() {
    for text in HARMLESS {
        let redactor = Redactor::default();
        redactor.also_hide_files(&[file(".env", &format!("{text}\nOTHER=k-9f8e7d6c5c\n"))]);
        let value = text.lines().nth(1).or_else(|| text.split_once('=').map(|(_, value)| value)).expect("it has one");
        let output = format!("it is {value}, really; k-9f8e7d6c5c");
        assert_eq!(redactor.redact_known(&output), format!("it is {value}, really; [secret]"), "{text}");
    }
    // With its name even a word is hidden.
    let redactor = Redactor::default();
    redactor.also_hide_files(&[file(".env", "DB_PASSWORD=username\n")]);
    assert_eq!(redactor.redact_known("DB_PASSWORD=username of username"), "DB_PASSWORD=[secret] of username");
}

#[test]
fn a_private_key_between_public_ones_is_hidden() {
    let redactor = Redactor::default();
    let key = "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAA\n-----END CERTIFICATE-----\n\
               -----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1\n-----END EC PRIVATE KEY-----\n";
    redactor.also_hide_files(&[file("all.pem", key)]);
    let shown = redactor.redact_known("MIIDdzCCAl+gAwIBAgIEAgAA MHcCAQEEIIrYSSNQFaA2Hwf1").into_owned();
    assert_eq!(shown, "MIIDdzCCAl+gAwIBAgIEAgAA [secret]");
}

/// Settings of git, and what is hidden in them.
const GIT_SETTINGS: &[(&str, &str)] = &[
    ("[remote \"origin\"]\n\turl = https://ann:k-9f8e7d6c5b@example.com/a.git\n", "k-9f8e7d6c5b"),
    ("[remote \"origin\"]\n\turl = https://k9f8e7d6c5b4a@example.com/a.git\n", "k9f8e7d6c5b4a"),
    ("[remote \"origin\"]\n\tpushurl = \"https://k9f8e7d6c5b4a:x-oauth-basic@example.com/a\"\n", "k9f8e7d6c5b4a"),
    ("[url \"https://ann:k-9f8e7d6c5b@example.com/\"]\n\tinsteadOf = https://example.com/\n", "k-9f8e7d6c5b"),
    (
        "[http]\n\textraheader = AUTHORIZATION: basic eDprLTlmOGU3ZDZjNWI=\n",
        "AUTHORIZATION: basic eDprLTlmOGU3ZDZjNWI=",
    ),
    (
        "[http \"https://example.com/\"]\n\textraHeader = \"Private-Token: k9f8e7d6c5b4a\"\n",
        "\"Private-Token: k9f8e7d6c5b4a\"",
    ),
    ("[http]\n\tproxy = http://ann:k-9f8e7d6c5b@proxy:3128\n", "k-9f8e7d6c5b"),
    ("[sendemail]\n\tsmtpPass = k-9f8e7d6c5b\n", "k-9f8e7d6c5b"),
    ("[credential]\n\thelper = \"!f() { echo password=k-9f8e7d6c5b; }; f\"\n", "k-9f8e7d6c5b"),
];

#[test]
fn passwords_in_settings_of_git_are_hidden_and_the_rest_is_shown() {
    let ordinary = "[core]\n\trepositoryformatversion = 0\n[user]\n\tname = Ann\n\temail = ann@example.com\n\
                    [branch \"fix-9f8e7d6c\"]\n\tremote = origin\n\tmerge = refs/heads/fix-9f8e7d6c\n\
                    [remote \"up\"]\n\turl = git@example.com:ann/a1b2c3d4e5.git\n\turl = https://example.com/ann/a1b2c3d4e5.git\n";
    for (settings, value) in GIT_SETTINGS {
        let redactor = Redactor::default();
        let text = format!("{ordinary}{settings}");
        redactor.also_hide_files(&[file(".git/config", &text).with_other_content()]);
        assert_eq!(redactor.redact_known(&text), text.replace(value, "[secret]"), "{settings}");
        let token = value.split(' ').next_back().unwrap_or_default().trim_matches('"');
        assert_eq!(redactor.redact_known(token).trim_end_matches('='), "[secret]", "{settings}");
    }
}

#[test]
fn a_file_of_very_many_values_is_hidden_and_too_many_are_told() {
    let of = |count: usize| (0..count).map(|number| format!("K{number}=k-{number}-9f8e7d\n")).collect::<String>();
    let redactor = Redactor::default();
    assert!(redactor.also_hide_files(&[file(".env", &of(6_000))]));
    for number in [0, 4_999, 5_000, 5_999] {
        let value = format!("k-{number}-9f8e7d");
        assert_eq!(redactor.redact_known(&value), "[secret]", "{value}");
    }
    let (values, is_all) = secrets_in(&file(".env", &of(30_000)));
    assert!(!is_all && values.iter().filter(|secret| secret.kept == 0).count() == MOST);
}
