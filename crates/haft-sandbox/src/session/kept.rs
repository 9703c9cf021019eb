//! Keeps roots for the commands of a session, from haft's side.
//!
//! A root costs some thousand system calls, and is the same for nearly all commands: system folders, toolchains, devices,
//! home, covers over what is hidden. So one launcher builds it, moves into it and stands by there. Each command is a copy
//! of that launcher in separate namespaces, which adds its layer and its `/proc`. Commands that see something else have
//! another root, on the same network.
//!
//! haft builds a root again when something that it shows or covers was replaced.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_contract::doors::connection::{NetworkSockets, SessionNetwork};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::Pid;

use super::sights::Sights;
use crate::environment;
use crate::running::orders::{
    CommandNetwork, Confine, HomeAccess, KeptAnswer, KeptNetwork, KeptShares, Orders, Visible, VisibleCache,
    VisibleRoot,
};
use crate::running::standby::{LauncherCopy, Standby, WorkspaceOwner};
use crate::running::wire;

/// Most roots that are kept at a time.
const MOST: usize = 4;
/// How long a launcher may take to build one.
const TO_BUILD: Duration = Duration::from_secs(10);

/// The roots of a session.
#[derive(Default)]
pub(crate) struct KeptRoots {
    network: Option<Arc<dyn SessionNetwork>>,
    inner: Mutex<RootPool>,
}

#[derive(Debug, Default)]
struct RootPool {
    /// The one that was used last comes last.
    roots: Vec<KeptRoot>,
    /// The user namespace and the network that they share.
    shared: Option<[OwnedFd; 2]>,
    sights: Sights,
    /// The mounts of caches that they share, by their numbers; each goes to the next root.
    caches: BTreeMap<usize, OwnedFd>,
    /// Caches over which no layer was possible, and which haft has not reported yet.
    refused: Vec<PathBuf>,
}

#[derive(Debug)]
struct KeptRoot {
    key: Vec<u8>,
    standby: Standby,
    /// Variables for tools that cannot write to their caches.
    moved: Vec<(OsString, OsString)>,
}

impl KeptRoots {
    /// Keeps roots whose connections this supervises.
    pub(crate) fn supervised_by(network: Arc<dyn SessionNetwork>) -> Self {
        Self { network: Some(network), inner: Mutex::default() }
    }

    /// Launches a command in the root that is kept for such commands, which is built if there is none.
    ///
    /// Returns nothing where the root has to be built for this command alone; the caller that builds it learns why.
    pub(crate) fn launch(
        &self,
        orders: &Orders,
        descriptors: &[OwnedFd],
        copy: Copy<'_>,
    ) -> Option<(LauncherCopy, Orders)> {
        let Confine::Fully(visible) = &orders.confine else { return None };
        // What a command leaves in a kept root, others find there. A root within the whole system cannot be kept.
        if !orders.is_of_session
            || visible.roots.is_empty()
            || visible.roots.iter().any(|root| root.path == Path::new("/"))
        {
            return None;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let key = inner.sights.key(visible, orders.network)?;
        let is_for_others = visible.home_access != HomeAccess::ForOneCommand;
        let launched = if is_for_others { inner.launch(&key) } else { None };
        let launched = launched.or_else(|| {
            let begin = |shared| begin(self.network.as_deref(), shared);
            let ports = self.network.as_ref().map_or(&[][..], |network| network.ports());
            inner.build(key, &RootRequest { orders, visible, descriptors, copy, ports, begin: &begin }).ok()?;
            inner.roots.last().and_then(|root| root.standby.copy().ok())
        })?;
        let moved = inner.roots.last().map(|root| root.moved.clone()).unwrap_or_default();
        if !is_for_others {
            inner.roots.pop();
        }
        let mut orders = Orders { confine: Confine::Kept(visible.roots.clone()), ..orders.clone() };
        environment::lead(&mut orders.environment, &moved);
        Some((launched, orders))
    }

    /// Returns the caches over which no layer was possible, each once.
    pub(crate) fn refused_caches(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner).refused)
    }
}

impl KeptRoots {
    /// Returns a process on the network that the last command in a kept root had.
    pub(crate) fn inside(&self) -> Option<Pid> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.roots.last().map(|root| root.standby.pid())
    }
}

impl KeptRoots {
    /// Returns sockets on the networks of the kept roots, those of the root used last first.
    pub(crate) fn sockets(&self) -> Vec<OwnedFd> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sockets = Vec::new();
        // One that does not answer would take its late answer for that to the next question.
        inner.roots.retain(|root| root.standby.sockets().map(|more| sockets.insert(0, more)).is_ok());
        sockets.into_iter().flatten().collect()
    }
}

/// Copies the launcher that stands by outside.
pub(crate) type Copy<'a> = &'a dyn Fn() -> io::Result<LauncherCopy>;

impl RootPool {
    fn launch(&mut self, key: &[u8]) -> Option<LauncherCopy> {
        let place = self.roots.iter().position(|root| root.key == key)?;
        let root = self.roots.remove(place);
        // It may have been killed since; then there is another.
        let launched = root.standby.copy().ok()?;
        self.roots.push(root);
        Some(launched)
    }

    fn build(&mut self, key: Vec<u8>, request: &RootRequest<'_>) -> io::Result<()> {
        let RootRequest { orders, visible, descriptors, copy, ports, begin } = *request;
        let network = match (orders.network, &self.shared) {
            (CommandNetwork::Host, _) => KeptNetwork::Host,
            (CommandNetwork::Own, None) => KeptNetwork::New(ports.to_vec()),
            (CommandNetwork::Own, Some(_)) => KeptNetwork::Earlier,
        };
        let mut given = folders(&visible.roots, descriptors)?;
        let caches: Vec<usize> = self.caches.keys().copied().collect();
        // A launcher that attaches a mount uses it up, and then hands on another one.
        given.extend(std::mem::take(&mut self.caches).into_values());
        if let (KeptNetwork::Earlier, Some(shared)) = (&network, &self.shared) {
            given.extend([shared[0].try_clone()?, shared[1].try_clone()?]);
        }
        let roots = visible.roots.iter().map(|root| VisibleRoot { path: root.path.clone(), ..VisibleRoot::default() });
        let visible = Visible { roots: roots.collect(), ..visible.clone() };
        let is_for_others = visible.home_access != HomeAccess::ForOneCommand;
        let known = visible.caches.clone();
        let wanted = Orders {
            words: Vec::new(),
            environment: Vec::new(),
            confine: Confine::Keep(visible, KeptShares { network: network.clone(), caches }),
            has_input: false,
            serves: false,
            stays: false,
            watched: Vec::new(),
            own: Vec::new(),
            streams: None,
            ..orders.clone()
        };
        let LauncherCopy { process, line, .. } = copy()?;
        for timeout in [Timeout::Send, Timeout::Recv] {
            set_socket_timeout(&line, timeout, Some(TO_BUILD))?;
        }
        let owner = given.first().map(WorkspaceOwner::of).ok_or(io::ErrorKind::InvalidInput)??;
        let standby = Standby::inside(process, line, owner);
        wire::send_orders(standby.line(), &wanted, &given)?;
        let (answer, mut shared) = wire::receive_orders::<KeptAnswer>(standby.line())?;
        let parts = answer.map_err(io::Error::other)?;
        let mounts = shared.split_off(shared.len().saturating_sub(parts.caches.len()));
        self.caches = parts.caches.into_iter().zip(mounts).collect();
        if matches!(network, KeptNetwork::New(_)) {
            self.shared = Some(begin(shared)?);
        }
        let refused: Vec<&VisibleCache> = parts.refused.iter().filter_map(|number| known.get(*number)).collect();
        let moved = refused.iter().flat_map(|cache| cache.instead.clone()).collect();
        if self.roots.is_empty() {
            self.refused.extend(refused.iter().map(|cache| cache.path.clone()));
        }
        if self.roots.len() >= MOST && is_for_others {
            self.roots.remove(0);
        }
        self.roots.push(KeptRoot { key, standby, moved });
        Ok(())
    }
}

/// What a kept root is built of.
struct RootRequest<'a> {
    orders: &'a Orders,
    visible: &'a Visible,
    descriptors: &'a [OwnedFd],
    copy: Copy<'a>,
    ports: &'a [u16],
    begin: Begin<'a>,
}

/// Takes the namespaces of the session, and lets its network be supervised.
type Begin<'a> = &'a dyn Fn(Vec<OwnedFd>) -> io::Result<[OwnedFd; 2]>;

fn begin(network: Option<&dyn SessionNetwork>, told: Vec<OwnedFd>) -> io::Result<[OwnedFd; 2]> {
    let missing = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let mut told = told.into_iter();
    let shared = [told.next().ok_or_else(missing)?, told.next().ok_or_else(missing)?];
    if let (Some(network), Some(names_udp), Some(names_tcp)) = (network, told.next(), told.next()) {
        let listeners = network.ports().iter().copied().zip(told).collect();
        network.begin(NetworkSockets { names_udp, names_tcp, listeners })?;
    }
    Ok(shared)
}

/// Returns the descriptors of the folders themselves, without those of their layers.
fn folders(roots: &[VisibleRoot], descriptors: &[OwnedFd]) -> io::Result<Vec<OwnedFd>> {
    let mut at = 0;
    let mut folders = Vec::new();
    for root in roots {
        let folder = descriptors.get(at).ok_or(io::ErrorKind::InvalidInput)?;
        folders.push(folder.as_fd().try_clone_to_owned()?);
        at += if root.layered { 3 } else { 1 };
    }
    Ok(folders)
}
