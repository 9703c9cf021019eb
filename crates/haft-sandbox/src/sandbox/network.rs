//! Decides which network a command has.

use std::ffi::OsString;

use haft_contract::doors::connection::ProxyAddress;
use haft_contract::doors::door::{ConsentKind, Permit};
use haft_contract::doors::process::{CommandSpec, ConfinementLevel, Home};
use haft_contract::effect::Effect;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;

use super::Sandbox;
use crate::environment::{self, Variables};
use crate::launcher;
use crate::settings::Network;

/// Hosts that programs reach past a proxy.
const PAST_PROXY: &str = "localhost,127.0.0.1,::1";

/// Returns whether connections can be decided about one by one: in a network of the session, or by a proxy where the
/// kernel keeps commands from all other ports.
pub(super) fn is_supervised_at(level: ConfinementLevel) -> bool {
    match level {
        ConfinementLevel::Full => true,
        ConfinementLevel::Partial => launcher::knows_ports(),
        ConfinementLevel::None => false,
    }
}

impl Sandbox {
    /// Returns which network a command has that runs by itself.
    pub(super) fn network_of_run(&self, permit: &Permit, command: &CommandSpec) -> Result<Network, ToolError> {
        let is_of_session = command.home == Home::Session && permit.desk().is_some();
        let by_setting = self.settings.network == Network::On && permit.standing() != ConsentKind::Plan;
        if self.network.is_some() && is_of_session && !by_setting {
            match self.level(permit)? {
                ConfinementLevel::Full => return Ok(Network::Supervised),
                level @ ConfinementLevel::Partial if is_supervised_at(level) => return Ok(Network::Proxied),
                ConfinementLevel::Partial | ConfinementLevel::None => {}
            }
        }
        Ok(self.network_of(permit, command))
    }

    /// Returns whether this command has the network: by the settings, or because a part of it that was approved uses it.
    pub(super) fn network_of(&self, permit: &Permit, command: &CommandSpec) -> Network {
        let is_of_command = |effect: &&Effect| matches!(effect, Effect::Step(step) if *step.command == *command.line);
        let is_approved = permit.effects().iter().filter(is_of_command).any(Effect::gives_network);
        match permit.standing() {
            ConsentKind::Plan => Network::Off,
            ConsentKind::Words | ConsentKind::Consent if is_approved => Network::On,
            ConsentKind::Words | ConsentKind::Consent => self.settings.network,
        }
    }

    /// Leads the programs of a command to the proxy, if that is its network; returns its port.
    pub(super) fn proxy_for(&self, network: Network, environment: &mut Variables) -> Result<Option<u16>, ToolError> {
        let Some(session) = self.network.as_ref().filter(|_| network == Network::Proxied) else { return Ok(None) };
        let address = session.proxy().map_err(|error| {
            let what = format!("The proxy for the connections of commands cannot be started: {error}. It was not run.");
            ToolError::of(ErrorKind::Io, what)
        })?;
        environment::lead(environment, &variables(&address));
        Ok(Some(address.port))
    }
}

/// Returns the variables that programs know, in both spellings. Not SOCKS: some libraries refuse to start where
/// `ALL_PROXY` names it.
fn variables(address: &ProxyAddress) -> Variables {
    let ProxyAddress { port, user, key } = address;
    let proxy = format!("http://{user}:{key}@127.0.0.1:{port}");
    let names =
        [("HTTP_PROXY", proxy.as_str()), ("HTTPS_PROXY", &proxy), ("ALL_PROXY", &proxy), ("NO_PROXY", PAST_PROXY)];
    let both = names.iter().flat_map(|(name, value)| [((*name).to_owned(), *value), (name.to_lowercase(), *value)]);
    let node = ("NODE_USE_ENV_PROXY".to_owned(), "1");
    both.chain([node]).map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}
