//! Tests versions of one content that share their common parts.

use super::*;

/// A store of objects, and the content that was kept last.
struct DeltaFixture {
    _folder: tempfile::TempDir,
    objects: Objects,
    /// The content that was kept last.
    last: Vec<u8>,
}

impl DeltaFixture {
    fn with(first: Vec<u8>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let objects = Objects::new(folder.path().join("objects"));
        objects.keep(&mut &*first, Durable::Yes, &|| false).expect("it can be kept");
        Self { _folder: folder, objects, last: first }
    }

    /// Keeps the next version, in which some bytes come in the place of others; says whether that was worth it.
    fn splice(&mut self, at: usize, gone: usize, come: &[u8]) -> bool {
        let new = [&self.last[..at], come, &self.last[at + gone..]].concat();
        let (at, gone, come) = (at as u64, gone as u64, come.len() as u64);
        let pieces = [
            ContentPiece::Old { at: 0, length: at },
            ContentPiece::New { at, length: come },
            ContentPiece::Old { at: at + gone, length: self.last.len() as u64 - at - gone },
        ];
        let read = |at: u64, into: &mut [u8]| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            into.copy_from_slice(&new[at..at + into.len()]);
            Ok(())
        };
        let (hash, old) = (ContentHash::of(&new), ContentHash::of(&self.last));
        let changed = ContentRevision { hash, old, pieces: &pieces, read: &read };
        let kept = self.objects.keep_changed(&changed, Durable::Yes).expect("it can be kept");
        self.last = new;
        kept
    }

    fn content(&self, hash: ContentHash) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.objects.open(hash).and_then(|mut kept| kept.read_to_end(&mut bytes)).expect("it is kept");
        bytes
    }
}

fn noise(size: u32) -> Vec<u8> {
    (0..size).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn a_thousand_versions_take_little_more_than_the_first() {
    let mut store = DeltaFixture::with(noise(2_000_000));
    let first = store.objects.room();
    let mut versions = vec![store.last.clone()];
    for number in 0..1_000_u32 {
        let (at, gone) = match number % 10 {
            0 => (number as usize * 1_000, 3),
            _ => (store.last.len(), 0),
        };
        assert!(store.splice(at, gone, format!("line {number}\n").as_bytes()), "version {number}");
        if number % 100 == 99 {
            versions.push(store.last.clone());
        }
    }
    for version in versions {
        assert!(store.content(ContentHash::of(&version)) == version);
    }
    let more = store.objects.room() - first;
    assert!(more < 12_000_000, "{more}");
}

#[test]
fn a_version_needs_only_the_objects_that_it_names() {
    let mut store = DeltaFixture::with(noise(500_000));
    for _ in 0..20 {
        assert!(store.splice(250_000, 5, &[7; 2_000]));
    }
    let last = ContentHash::of(&store.last);
    let needed: Vec<ContentHash> = store.objects.with_sources(last).collect();
    assert!(needed.len() >= 2);
    store.objects.retain(|hash| needed.contains(&hash));
    assert!(store.content(last) == store.last);
}

#[test]
fn a_version_is_not_built_on_what_somebody_wrote_into() {
    let mut store = DeltaFixture::with(noise(500_000));
    let base = store.objects.path(ContentHash::of(&store.last));
    assert!(store.splice(10, 0, b"more"));
    let hash = ContentHash::of(&store.last);
    assert!(store.objects.has(hash, Durable::Yes).expect("it can be looked at"));
    let file = std::fs::OpenOptions::new().write(true).open(&base).expect("it is there");
    file.write_all_at(b"!", 400_000).expect("it can be written");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    file.set_modified(later).expect("it is ours");
    assert!(!store.objects.has(hash, Durable::Yes).expect("it can be looked at"));
}

#[test]
fn a_small_version_does_not_hold_a_large_one() {
    let mut store = DeltaFixture::with(noise(5_000_000));
    assert!(store.splice(0, 1_000_000, b""));
    assert!(!store.splice(0, 3_000_000, b""));
}

#[test]
fn a_damaged_delta_is_none() {
    let mut store = DeltaFixture::with(noise(100_000));
    assert!(store.splice(50_000, 1, b"x"));
    let hash = ContentHash::of(&store.last);
    let path = store.objects.path_of_delta(hash);
    let written = std::fs::read(&path).expect("it is there");
    for index in 0..written.len() {
        let mut damaged = written.clone();
        damaged[index] ^= 0x20;
        for left in [&damaged[..], &written[..index]] {
            std::fs::write(&path, left).expect("it can be written");
            assert!(!store.objects.has(hash, Durable::No).expect("it can be looked at"), "byte {index}");
            assert!(store.objects.open(hash).is_err(), "byte {index}");
        }
    }
}
