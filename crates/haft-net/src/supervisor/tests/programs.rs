//! Tests unmodified programs inside: they do not know of haft, and no variable tells them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::scene::{ALLOW, ALLOW_RAW, LoopbackServer, SupervisorScene, scene};
use crate::require::Need;
use crate::supervisor::{ConnectionOutcome, Decision};

/// Returns a session if the system has these programs.
#[track_caller]
fn scene_with(programs: &[&str]) -> Option<SupervisorScene> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    programs.iter().all(|name| Need::of_program(name).met(is_there(name))).then(scene).flatten()
}

async fn run(mut command: Command) -> (bool, String) {
    command.stdin(Stdio::null()).env_remove("http_proxy").env_remove("https_proxy");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    let ran = tokio::task::spawn_blocking(move || command.output()).await.unwrap();
    let Output { status, stdout, stderr } = ran.unwrap();
    (status.success(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

impl SupervisorScene {
    async fn run(&self, words: &[&str]) -> (bool, String) {
        let mut command = self.namespace.program(words[0]);
        command.args(&words[1..]);
        run(command).await
    }

    async fn run_ok(&self, words: &[&str]) -> String {
        let (is_ok, text) = self.run(words).await;
        assert!(is_ok, "{words:?}: {text} {:?}", self.supervisor.traffic());
        text
    }

    /// A host that answers every request with its path.
    async fn web(&self, name: &str) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.dialler.place(name, &[self.dialler.address_for(listener.local_addr().unwrap())]);
        self.judge.script(name, ALLOW);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        head.push(client.read_u8().await?);
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default();
                    let body = match path.contains("info/refs") {
                        true => format!("{}\trefs/heads/main\n", "1234567890".repeat(4)),
                        false => format!("you asked for {path}\n"),
                    };
                    let length = body.len();
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close";
                    client.write_all(format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes()).await
                });
            }
        });
    }

    /// A host with a certificate, which answers every request with a page about the connection.
    fn tls(&self, name: &str) -> TlsServer {
        let server = TlsServer::start(name);
        let address = format!("127.0.0.1:{}", server.port).parse().unwrap();
        self.dialler.place(name, &[self.dialler.address_for(address)]);
        self.judge.script(name, ALLOW);
        server
    }
}

struct TlsServer {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl TlsServer {
    fn start(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [certificate, key] = ["cert.pem", "key.pem"].map(|file| folder.path().join(file));
        let made = Command::new("openssl")
            .args("req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:P-256".split(' '))
            .args(["-subj", &format!("/CN={name}"), "-addext", &format!("subjectAltName=DNS:{name}")])
            .args([Path::new("-keyout"), &key, Path::new("-out"), &certificate])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let mut process = Command::new("openssl")
            .args(["s_server", "-www", "-accept", "127.0.0.1:0"])
            .args([Path::new("-key"), &key, Path::new("-cert"), &certificate])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port =
            lines.map_while(Result::ok).find_map(|line| line.strip_prefix("ACCEPT ")?.rsplit_once(':')?.1.parse().ok());
        Self { process, port: port.unwrap(), folder }
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait());
    }
}

#[tokio::test]
async fn curl_reaches_a_granted_host() {
    let Some(scene) = scene_with(&["curl", "openssl"]) else { return };
    scene.web("a.test").await;
    assert_eq!(scene.run_ok(&["curl", "-sS", "http://a.test/x"]).await, "you asked for /x\n");
    assert_eq!(scene.run_ok(&["curl", "-sS", "http://A.TEST./x"]).await, "you asked for /x\n");
    let server = scene.tls("b.test");
    let certificate = server.certificate();
    let page = scene.run_ok(&["curl", "-sS", "--cacert", certificate.to_str().unwrap(), "https://b.test/"]).await;
    assert!(page.contains("TLSv1"), "{page}");
    assert_eq!(scene.flow("b.test", 443).outcome, ConnectionOutcome::Reached);
}

#[tokio::test]
async fn curl_is_told_what_was_refused_and_nothing_reaches_a_host() {
    let Some(scene) = scene_with(&["curl"]) else { return };
    scene.judge.deny("denied.test");
    let table: [(&[&str], &str); 10] = [
        (&["http://no.test/"], "haft: no.test:80: No grant."),
        (&["https://no.test/"], "alert"),
        (&["http://denied.test/"], "Could not resolve host"),
        (&["http://1.1.1.1/"], "connect"),
        (&["http://[2606:4700::1111]/"], "connect"),
        (&["-H", "Host: other.test", "http://no.test/"], "names \"other.test\""),
        (&["--connect-to", "other.test:443:no.test:443", "https://other.test/"], "alert"),
        (&["--resolve", "no.test:443:198.19.1.1", "https://no.test/"], "curl: ("),
        (&["--resolve", "no.test:80:127.0.0.1", "http://no.test/"], "curl: ("),
        (&["--http2-prior-knowledge", "http://no.test/"], "curl: ("),
    ];
    for (words, told) in table {
        let words = [&["curl", "-sS", "--max-time", "20"], words].concat();
        let (_, text) = scene.run(&words).await;
        assert!(text.contains(told), "{words:?}: {text}");
    }
    assert!(scene.dialler.looked_up.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_resolver_of_the_system_asks_the_supervisor() {
    let Some(scene) = scene_with(&["getent"]) else { return };
    scene.judge.deny("denied.test");
    assert!(scene.run_ok(&["getent", "ahosts", "a.test"]).await.starts_with("198.18.0.1 "));
    assert!(scene.run_ok(&["getent", "ahostsv4", "single"]).await.starts_with("198.18.0.2 "));
    assert!(scene.run_ok(&["getent", "ahostsv4", "localhost"]).await.starts_with("127.0.0.1 "));
    assert!(scene.run_ok(&["getent", "ahostsv4", "here"]).await.starts_with("127.0.0.1 "));
    for words in
        [["getent", "ahosts", "denied.test"], ["getent", "ahostsv6", "a.test"], ["getent", "hosts", "198.18.0.1"]]
    {
        let (is_found, text) = scene.run(&words).await;
        assert!(!is_found && text.is_empty(), "{words:?}: {text}");
    }
}

#[tokio::test]
async fn python_reaches_a_granted_host() {
    let Some(scene) = scene_with(&["python3", "openssl"]) else { return };
    scene.web("a.test").await;
    let server = scene.tls("b.test");
    let code = "import sys, ssl, urllib.request as r\n\
        print(r.urlopen('http://a.test/x').read())\n\
        print('TLSv1' in r.urlopen('https://b.test/', context=ssl.create_default_context(cafile=sys.argv[1])).read().decode())";
    let text = scene.run_ok(&["python3", "-c", code, server.certificate().to_str().unwrap()]).await;
    assert_eq!(text, "b'you asked for /x\\n'\nTrue\n");
}

#[tokio::test]
async fn node_reaches_a_granted_host_with_fetch() {
    let Some(scene) = scene_with(&["node"]) else { return };
    scene.web("a.test").await;
    let code = "fetch('http://a.test/x').then(r => r.text()).then(t => console.log(t), e => console.log(e.cause))";
    assert_eq!(scene.run_ok(&["node", "-e", code]).await, "you asked for /x\n\n");
    let own = "require('dns').resolve4('a.test', (e, a) => console.log(e || a[0]))";
    assert_eq!(scene.run_ok(&["node", "-e", own]).await, "198.18.0.1\n");
}

#[tokio::test]
async fn git_reaches_a_granted_host() {
    let Some(scene) = scene_with(&["git"]) else { return };
    scene.web("a.test").await;
    let text = scene.run_ok(&["git", "ls-remote", "http://a.test/repository"]).await;
    assert!(text.contains("refs/heads/main"), "{text}");
}

#[tokio::test]
async fn java_reaches_a_granted_host() {
    let Some(scene) = scene_with(&["java", "javac"]) else { return };
    scene.web("a.test").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Main.java");
    let code = "public class Main { public static void main(String[] a) throws Exception {\
        System.out.print(new String(new java.net.URL(\"http://a.test/x\").openStream().readAllBytes())); } }";
    std::fs::write(&file, code).unwrap();
    let text = scene.run_ok(&["java", "-Djava.io.tmpdir=/tmp", file.to_str().unwrap()]).await;
    assert!(text.contains("you asked for /x\n"), "{text}");
}

#[tokio::test]
async fn ssh_reaches_a_host_with_a_raw_grant_alone() {
    let Some(scene) = scene_with(&["ssh"]) else { return };
    let server = LoopbackServer::greeting(b"SSH-2.0-server\r\n").await;
    let words = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "git@git.test", "true"];
    scene.host("git.test", &server, Decision::Refuse { why: "No.".into() });
    scene.run(&words).await;
    assert_eq!((server.accepted(), scene.outcome("git.test", 22).as_str()), (0, "Refused(\"No.\")"));
    scene.host("git.test", &server, ALLOW_RAW);
    scene.run(&words).await;
    let received = server.received();
    assert!(received.starts_with(b"SSH-2.0-OpenSSH"), "{}", received.escape_ascii());
}

/// A web server on the loopback that offers the files of a folder.
struct FileServer {
    process: Child,
    folder: tempfile::TempDir,
}

impl FileServer {
    fn offered(scene: &SupervisorScene, name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let code = "import functools, http.server as h, sys\n\
            handler = functools.partial(h.SimpleHTTPRequestHandler, directory=sys.argv[1])\n\
            server = h.ThreadingHTTPServer(('127.0.0.1', 0), handler)\n\
            print(server.server_port, flush=True)\n\
            server.serve_forever()";
        let mut process = Command::new("python3")
            .args([Path::new("-c"), Path::new(code), folder.path()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let address = format!("127.0.0.1:{}", port.trim()).parse().unwrap();
        scene.dialler.place(name, &[scene.dialler.address_for(address)]);
        scene.judge.script(name, ALLOW);
        Self { process, folder }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        let _ = (self.process.kill(), self.process.wait());
    }
}

#[tokio::test]
async fn pip_downloads_from_an_index_and_its_other_host() {
    let Some(scene) = scene_with(&["python3"]) else { return };
    let (is_there, _) = scene.run(&["python3", "-m", "pip", "--version"]).await;
    if !Need::Python.met(is_there) {
        return;
    }
    let (index, files) = (FileServer::offered(&scene, "index.test"), FileServer::offered(&scene, "files.test"));
    let wheel = "tiny-1.0-py3-none-any.whl";
    index.write("simple/tiny/index.html", format!("<a href=\"http://files.test/{wheel}\">{wheel}</a>"));
    let make = "import sys, zipfile\n\
        with zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n\
        \x20 wheel.writestr('tiny.py', '')\n\
        \x20 wheel.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')\n\
        \x20 wheel.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
        \x20 wheel.writestr('tiny-1.0.dist-info/RECORD', '')\n";
    let made = Command::new("python3").args(["-c", make]).arg(files.folder.path().join(wheel)).status().unwrap();
    assert!(made.success());
    let target = tempfile::tempdir().unwrap();
    let options = "--isolated --disable-pip-version-check --no-cache-dir download --no-deps --trusted-host index.test";
    let mut words = vec!["python3", "-m", "pip"];
    words.extend(options.split(' '));
    words.extend(["--trusted-host", "files.test", "--index-url", "http://index.test/simple", "tiny", "-d"]);
    words.push(target.path().to_str().unwrap());
    scene.run_ok(&words).await;
    assert!(target.path().join(wheel).is_file());
    let reached: Vec<_> = scene.supervisor.traffic().flows.into_keys().map(|(host, _)| host).collect();
    assert_eq!(reached, ["files.test", "index.test"]);
}

#[tokio::test]
async fn npm_reads_from_a_registry() {
    let Some(scene) = scene_with(&["npm", "python3"]) else { return };
    let registry = FileServer::offered(&scene, "registry.test");
    let package = r#"{"name":"tiny","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"tiny","version":"1.2.3",
        "dist":{"tarball":"http://registry.test/tiny.tgz","shasum":"0"}}}}"#;
    registry.write("tiny", package);
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().to_str().unwrap();
    let words = ["npm", "view", "tiny", "version", "--registry", "http://registry.test/", "--cache", cache];
    assert!(scene.run_ok(&words).await.contains("1.2.3"));
}

#[tokio::test]
async fn a_client_of_a_database_reaches_it_with_a_raw_grant_alone() {
    let Some(scene) = scene_with(&["psql"]) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    scene.dialler.place("db.test", &[scene.dialler.address_for(listener.local_addr().unwrap())]);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut startup = vec![0; usize::try_from(client.read_u32().await?).unwrap().saturating_sub(4)];
                client.read_exact(&mut startup).await?;
                let fields = b"SFATAL\0VFATAL\0C57P03\0Mthis is the database\0\0";
                client.write_all(b"E").await?;
                client.write_u32(u32::try_from(fields.len() + 4).unwrap()).await?;
                client.write_all(fields).await
            });
        }
    });
    let words = ["psql", "host=db.test sslmode=disable user=me dbname=x connect_timeout=20", "-c", "select 1"];
    scene.judge.script("db.test", ALLOW);
    let (_, refused) = scene.run(&words).await;
    assert!(!refused.contains("this is the database"), "{refused}");
    scene.judge.script("db.test", ALLOW_RAW);
    let (_, reached) = scene.run(&words).await;
    assert!(reached.contains("this is the database"), "{reached}");
}
