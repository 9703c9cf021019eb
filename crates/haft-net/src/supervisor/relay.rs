//! Passes bytes between a command and a host until both have ended.
//!
//! A direction has a buffer only while it holds bytes, so idle connections need none. The relay reads nothing more while
//! the other side does not accept earlier bytes.

use std::io;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::traffic::Account;

/// Most bytes on their way in one direction.
const BUFFER: usize = 64 * 1024;

/// Passes bytes in both directions. When one side ends its direction, the other side learns that, and may go on.
pub(super) async fn relay(client: &mut TcpStream, host: &mut TcpStream, account: &Account) -> io::Result<()> {
    let (from_client, to_client) = client.split();
    let (from_host, to_host) = host.split();
    let out = pass(from_client, to_host, |bytes| account.sent(bytes));
    let back = pass(from_host, to_client, |bytes| account.received(bytes));
    tokio::try_join!(out, back).map(drop)
}

async fn pass(from: ReadHalf<'_>, mut to: WriteHalf<'_>, count: impl Fn(usize)) -> io::Result<()> {
    loop {
        from.readable().await?;
        let mut buffer = Vec::with_capacity(BUFFER);
        loop {
            match from.try_read_buf(&mut buffer) {
                Ok(0) => return to.shutdown().await,
                Ok(length) => {
                    // It also lets other tasks run now and then.
                    to.write_all(&buffer).await?;
                    count(length);
                    buffer.clear();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
    }
}
