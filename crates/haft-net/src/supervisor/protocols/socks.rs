//! Parses a SOCKS 5 request to connect to a host (RFC 1928, with the name and key of RFC 1929).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::proxy::{ProxyMethod, ProxyRequest, USER, say};

/// The version of the protocol, the first byte of a client.
pub(in crate::supervisor) const VERSION: u8 = 5;
/// The answer that a client is connected.
pub(in crate::supervisor) const SUCCEEDED: u8 = 0;
/// The answer that a rule forbids it.
pub(in crate::supervisor) const NOT_ALLOWED: u8 = 2;
const NOT_KNOWN: u8 = 7;
const ADDRESS_NOT_KNOWN: u8 = 8;

const BY_NAME_AND_KEY: u8 = 2;
const BY_NOTHING: u8 = 0xff;
const CONNECT: u8 = 1;

/// Reads which host a client asks for, after its first byte. Answers an invalid request itself, and returns `None`.
pub(in crate::supervisor) async fn asked(client: &mut TcpStream, key: &str) -> io::Result<Option<ProxyRequest>> {
    let methods = counted(client).await?;
    if !methods.contains(&BY_NAME_AND_KEY) {
        say(client, &[VERSION, BY_NOTHING]).await?;
        return Ok(None);
    }
    client.write_all(&[VERSION, BY_NAME_AND_KEY]).await?;
    let version = client.read_u8().await?;
    let (user, told) = (counted(client).await?, counted(client).await?);
    if version != 1 || user != USER.as_bytes() || told != key.as_bytes() {
        say(client, &[1, 1]).await?;
        return Ok(None);
    }
    client.write_all(&[1, 0]).await?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    let [version, command, _, kind] = request;
    let host = match kind {
        1 => Ipv4Addr::from(client.read_u32().await?).to_string(),
        3 => String::from_utf8_lossy(&counted(client).await?).into_owned(),
        4 => Ipv6Addr::from(client.read_u128().await?).to_string(),
        _ => {
            say(client, &answer(ADDRESS_NOT_KNOWN)).await?;
            return Ok(None);
        }
    };
    let port = client.read_u16().await?;
    if version != VERSION || command != CONNECT {
        say(client, &answer(NOT_KNOWN)).await?;
        return Ok(None);
    }
    Ok(Some(ProxyRequest { host, port, first_bytes: Vec::new(), way: ProxyMethod::Socks }))
}

/// Returns an answer to a request. It names no local address, because clients do not need one.
pub(in crate::supervisor) fn answer(code: u8) -> [u8; 10] {
    [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// Reads bytes that follow their count.
async fn counted(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}
