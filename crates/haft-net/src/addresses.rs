//! Decides which addresses are public: not of this machine, not of its network, and not reserved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address is one of the whole world.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match inner(address) {
            // What leads to an address of the older kind is judged as that one.
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match (a, b, c) {
        // This network, private networks, this machine, a provider's own, the link, tests, several, the future.
        (0 | 10 | 127, _, _) | (100, 64..=127, _) | (169, 254, _) | (172, 16..=31, _) | (192, 168, _) => true,
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) | (224.., _, _) => true,
        _ => false,
    };
    !is_special
}

/// Returns the address of the older kind that stands in one of the newer kind: mapped, compatible, translated, tunnelled.
pub(crate) fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let of = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] => of(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => of(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => of(high, low),
        [0x2002, high, low, ..] => of(high, low),
        _ => None,
    }
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    // Only this part of the space is given out; in it, some parts are for tests and tunnels.
    let is_given_out = s[0] & 0xe000 == 0x2000;
    let is_special = matches!(s, [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..]);
    is_given_out && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_whole_world_are_public() {
        let is = |text: &str| is_public(text.parse().expect("it is an address"));
        for public in
            ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
        {
            assert!(is(public), "{public}");
        }
        let not = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "fec0::1",
            "64:ff9b:1::1",
            "100::1",
        ];
        for private in not {
            assert!(!is(private), "{private}");
        }
    }
}
