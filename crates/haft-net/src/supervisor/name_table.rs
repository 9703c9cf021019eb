//! Gives each name that a session looks up an address from a block that is never routed.
//!
//! An address belongs to its name until the session ends. No second name ever gets it: a program may keep an address for
//! as long as it likes, and the supervisor would then take its connection for one to the other host.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

/// The first address of 198.18.0.0/15, which is reserved for benchmarks.
const BLOCK: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// How many bits of an address say that it is one of the block.
const PREFIX: u32 = 15;
/// Most names of a session, so that their memory has a bound: some 5 MB if all of them are as long as can be.
const MOST_NAMES: usize = 16_384;

/// The names of a session and their addresses.
#[derive(Default)]
pub(super) struct NameTable {
    names: Mutex<NameAddresses>,
}

#[derive(Default)]
struct NameAddresses {
    addresses: HashMap<Arc<str>, Ipv4Addr>,
    in_order: Vec<Arc<str>>,
}

impl NameTable {
    /// Returns the address of a name, which is the next free one for a new name; nothing when there are too many names.
    pub(super) fn address_of(&self, name: &str) -> Option<Ipv4Addr> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = names.addresses.get(name) {
            return Some(*address);
        }
        let number = names.in_order.len();
        if number >= MOST_NAMES {
            return None;
        }
        // The first address of the block has no name: some programs do not connect to the address of a network.
        let address = Ipv4Addr::from(BLOCK + 1 + u32::try_from(number).ok()?);
        let name: Arc<str> = name.into();
        names.addresses.insert(name.clone(), address);
        names.in_order.push(name);
        Some(address)
    }

    /// Returns the name that an address belongs to.
    pub(super) fn name_of(&self, address: Ipv4Addr) -> Option<Arc<str>> {
        let number = u32::from(address).checked_sub(BLOCK + 1)?;
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.in_order.get(usize::try_from(number).ok()?).cloned()
    }
}

/// Returns whether an address is one of the block.
pub(super) fn is_of_block(address: Ipv4Addr) -> bool {
    u32::from(address) >> (32 - PREFIX) == BLOCK >> (32 - PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_and_no_other_name_gets_it() {
        let table = NameTable::default();
        let addresses = ["a.test", "b.test", "a.test"].map(|name| table.address_of(name).unwrap());
        assert_eq!(addresses[0], addresses[2]);
        assert_ne!(addresses[0], addresses[1]);
        assert_eq!(table.name_of(addresses[1]).as_deref(), Some("b.test"));
    }

    #[test]
    fn when_too_many_names_were_looked_up_new_ones_get_no_address_and_old_ones_keep_theirs() {
        let table = NameTable::default();
        let first = table.address_of("0.test").unwrap();
        for number in 1..MOST_NAMES {
            let name = format!("{number}.test");
            let address = table.address_of(&name).unwrap();
            assert!(is_of_block(address) && table.name_of(address).as_deref() == Some(name.as_str()));
        }
        assert_eq!(table.address_of("more.test"), None);
        assert_eq!(table.address_of("0.test"), Some(first));
    }

    #[test]
    fn an_address_that_was_not_given_out_has_no_name() {
        let table = NameTable::default();
        table.address_of("a.test").unwrap();
        for address in
            ["198.18.0.0", "198.18.0.2", "198.19.255.255", "198.20.0.1", "127.0.0.1", "0.0.0.0", "255.255.255.255"]
        {
            assert_eq!(table.name_of(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn the_block_ends_where_it_ends() {
        let is = |text: &str| is_of_block(text.parse().unwrap());
        assert!(is("198.18.0.0") && is("198.19.255.255"));
        assert!(!is("198.17.255.255") && !is("198.20.0.0") && !is("127.0.0.1"));
    }
}
