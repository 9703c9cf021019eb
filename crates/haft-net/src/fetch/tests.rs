//! Fetches documents from servers on the loopback, which stand for public hosts. A scene supplies names, look-ups and
//! dialled addresses, and the tests reach no other machine.

mod limits;
mod places;
mod url_cases;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use haft_contract::BoxFuture;
use haft_contract::doors::connection::{ConnectionDesk, ConnectionRequest, Decision};
use haft_contract::doors::door::{OldChanges, Permit, PermitIssuer, Provenance, Purpose, SessionName};
use haft_contract::doors::web::{Fetch, FetchedDocument};
use haft_contract::effect::Effect;
use haft_contract::outcome::error::ToolError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
#[expect(clippy::disallowed_types, reason = "servers of tests on the loopback")]
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::{Fetcher, Security};
use crate::session_network::HostRules;
use crate::supervisor::{Dial, DialError};

/// The pieces that a server sends on a connection; after the last it may pause and repeat it.
#[derive(Clone)]
struct ServerScript {
    pieces: Vec<Bytes>,
    /// How often the last piece is sent again.
    again: usize,
    pause: Duration,
}

/// Names, their answers of successive look-ups, and the servers behind addresses.
#[derive(Default)]
struct World {
    names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    dialled: Mutex<Vec<IpAddr>>,
    /// One after the other; the last one stays.
    scripts: Mutex<Vec<ServerScript>>,
    asked: Arc<Mutex<Vec<String>>>,
}

struct SharedWorld(Arc<World>);

#[expect(clippy::disallowed_types, reason = "servers of tests on the loopback")]
impl Dial for SharedWorld {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, DialError>> {
        let mut names = self.0.names.lock().unwrap();
        let found = names.get_mut(host).and_then(|answers| match answers.len() {
            0 => None,
            1 => answers.first().cloned(),
            _ => Some(answers.remove(0)),
        });
        Box::pin(async move { found.ok_or(DialError::NoSuchHost) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(async move {
            self.0.dialled.lock().unwrap().push(address.ip());
            let script = {
                let mut scripts = self.0.scripts.lock().unwrap();
                if scripts.len() > 1 { scripts.remove(0) } else { scripts.first().cloned().unwrap() }
            };
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let address = listener.local_addr()?;
            tokio::spawn(serve(listener, script, self.0.asked.clone()));
            TcpStream::connect(address).await
        })
    }
}

#[expect(clippy::disallowed_types, reason = "servers of tests on the loopback")]
async fn serve(listener: TcpListener, script: ServerScript, asked: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    let (mut stream, _) = listener.accept().await?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut piece = [0; 1024];
        let length = stream.read(&mut piece).await?;
        if length == 0 {
            return Ok(());
        }
        request.extend_from_slice(&piece[..length]);
    }
    asked.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    for piece in &script.pieces {
        stream.write_all(piece).await?;
    }
    if let Some(last) = script.pieces.last() {
        for _ in 0..script.again {
            // The tests whose servers pause have paused time.
            let _ = tokio::time::timeout(script.pause, std::future::pending::<()>()).await;
            stream.write_all(last).await?;
        }
    }
    stream.flush().await
}

/// Settings that allow and deny hosts by their names.
#[derive(Default)]
struct ListedHosts {
    allow: Vec<&'static str>,
    deny: Vec<&'static str>,
}

impl HostRules for ListedHosts {
    fn is_denied(&self, host: &str) -> bool {
        self.deny.contains(&host)
    }

    fn granted(&self, wanted: &ConnectionRequest) -> Option<Decision> {
        self.allow.contains(&&*wanted.host).then_some(Decision::Allow { raw: false, private: false })
    }

    fn names(&self, host: &str, _port: u16) -> bool {
        self.allow.contains(&host)
    }
}

struct FetchScene {
    world: Arc<World>,
    fetcher: Fetcher,
    stop: CancellationToken,
    /// What a person says to the host of a redirect.
    person: Option<Decision>,
}

const SMALL: usize = 100_000;

impl FetchScene {
    fn new() -> Self {
        Self::ruled(ListedHosts::default())
    }

    fn ruled(rules: ListedHosts) -> Self {
        let world = Arc::new(World::default());
        let fetcher = Fetcher::new(Arc::new(SharedWorld(world.clone())), Security::None).ruled_by(Arc::new(rules));
        Self { world, fetcher, stop: CancellationToken::new(), person: None }.name("good.example", &["93.184.215.14"])
    }

    /// A name with the answers of one look-up.
    fn name(self, name: &str, answers: &[&str]) -> Self {
        let answers = answers.iter().map(|address| address.parse().unwrap()).collect();
        self.world.names.lock().unwrap().entry(name.to_owned()).or_default().push(answers);
        self
    }

    fn sends(self, pieces: &[&[u8]]) -> Self {
        let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
        self.script(ServerScript { pieces, again: 0, pause: Duration::ZERO })
    }

    fn script(self, script: ServerScript) -> Self {
        self.world.scripts.lock().unwrap().push(script);
        self
    }

    fn page(self, headers: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        self.sends(&[head.as_bytes(), body.as_bytes()])
    }

    fn redirect(self, location: &str) -> Self {
        let head = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        self.sends(&[head.as_bytes()])
    }

    async fn fetch(&self, text: &str) -> Result<FetchedDocument, ToolError> {
        self.fetch_within(text, Duration::from_secs(30)).await
    }

    async fn fetch_within(&self, text: &str, time: Duration) -> Result<FetchedDocument, ToolError> {
        let url = self.fetcher.read_url(text)?;
        let (desk, mut questions) = ConnectionDesk::open();
        let permit = permit(&[Effect::Connect(url.planned_host())], self.stop.clone());
        let permit = if self.person.is_some() { permit.asking_at(desk) } else { permit };
        let fetch = Fetch { url, most: SMALL, time, idle: Duration::from_secs(10) };
        let answering = async {
            while let Some(question) = questions.recv().await {
                question.answer(self.person.clone().unwrap());
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = self.fetcher.fetch(&permit, &fetch) => done,
            () = answering => unreachable!("it waits for ever"),
        }
    }

    /// Returns the body as text, or what is wrong.
    async fn told(&self, text: &str) -> String {
        match self.fetch(text).await {
            Ok(fetched) => format!("{} {}", fetched.status, String::from_utf8_lossy(&fetched.body)),
            Err(error) => format!("{}: {}", error.kind.code(), error.what),
        }
    }

    fn dialled(&self) -> Vec<String> {
        self.world.dialled.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    fn asked(&self) -> Vec<String> {
        self.world.asked.lock().unwrap().clone()
    }
}

fn permit(effects: &[Effect], stop: CancellationToken) -> Permit {
    let errand = Provenance {
        call: haft_contract::call::CallId::new("1"),
        tool: "fetch".into(),
        session: SessionName::new("s"),
        run: "r".into(),
        turn: 1,
        purpose: Purpose::default(),
        old_changes: OldChanges::Stay,
    };
    Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects.into(), stop)
}
