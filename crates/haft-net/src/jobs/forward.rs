//! Makes a port of a session reachable on the loopback of this machine.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep;

use super::client::{NoAnswer, ask, connect};
use super::message::Ask;

/// Most connections at a time; others wait.
const MOST_CONNECTIONS: usize = 256;
/// Most notes that wait to be shown; others are dropped.
const MOST_NOTES: usize = 16;
/// How long to wait when the system has no more descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Which port of this machine is listened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalPort {
    /// This one.
    Exactly(u16),
    /// This one, or another if it is taken.
    Preferably(u16),
}

/// A port of a session on the loopback of this machine.
pub struct Forward {
    listener: TcpListener,
    holder: PathBuf,
    port: u16,
}

impl Forward {
    /// Listens for connections to this port of the session whose holder has its socket at this path.
    ///
    /// # Errors
    ///
    /// Fails where the local port is taken, or not allowed.
    pub async fn listen(holder: &Path, port: u16, local: LocalPort) -> io::Result<Self> {
        let bind = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = match local {
            LocalPort::Exactly(local) => bind(local).await?,
            LocalPort::Preferably(local) => match bind(local).await {
                Ok(listener) => listener,
                Err(_) => bind(0).await?,
            },
        };
        Ok(Self { listener, holder: holder.to_owned(), port })
    }

    /// Returns where it listens.
    ///
    /// # Errors
    ///
    /// Fails where the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Passes connections on until the session has ended; tells why one was not possible.
    pub async fn run(&self, told: &(dyn Fn(&str) + Sync)) -> NoAnswer {
        let (tell, mut notes) = mpsc::channel::<String>(MOST_NOTES);
        let telling = async {
            while let Some(note) = notes.recv().await {
                told(&note);
            }
        };
        let gone = tokio::select! {
            gone = until_gone(&self.holder) => gone,
            () = self.accept(tell) => NoAnswer::Gone,
            () = telling => NoAnswer::Gone,
        };
        while let Ok(note) = notes.try_recv() {
            told(&note);
        }
        gone
    }

    async fn accept(&self, tell: mpsc::Sender<String>) {
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        while let Ok(place) = Arc::clone(&room).acquire_owned().await {
            let Ok((mut outside, _)) = self.listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let (holder, port, tell) = (self.holder.clone(), self.port, tell.clone());
            tokio::spawn(async move {
                // Tell the reason before the connection ends, so no client acts on the end first.
                if let Err(why) = pass_on(&mut outside, &holder, port).await {
                    let _ = tell.try_send(why);
                }
                drop((outside, place));
            });
        }
    }
}

async fn until_gone(holder: &Path) -> NoAnswer {
    loop {
        match ask(holder, &Ask::Stay {}).await {
            Ok(_) => {}
            // It may be stopped for a while; connections fail meanwhile.
            Err(NoAnswer::Hangs) => sleep(PAUSE).await,
            Err(error) => return error,
        }
    }
}

async fn pass_on(outside: &mut TcpStream, holder: &Path, port: u16) -> Result<(), String> {
    let inside = connect(holder, port).await.map_err(|error| error.to_string())?;
    let mut inside = inside.and_then(|socket| stream(socket).map_err(|error| error.to_string()))?;
    // How one side closes is nothing to us.
    let _ = copy_bidirectional(outside, &mut inside).await;
    Ok(())
}

fn stream(socket: OwnedFd) -> io::Result<TcpStream> {
    let socket = std::net::TcpStream::from(socket);
    socket.set_nonblocking(true)?;
    TcpStream::from_std(socket)
}
