use super::*;

/// A temporary folder with sessions.
struct SessionsFixture {
    _folder: tempfile::TempDir,
    sessions: Sessions,
}

impl SessionsFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let sessions = Sessions::new(folder.path().join("state/sessions"));
        Self { _folder: folder, sessions }
    }

    /// Writes a session with these records; returns its id.
    fn written(&self, records: &[&str]) -> SessionId {
        let log = self.sessions.begin("  mend\nthe\tbug ").expect("a session can be begun");
        for (record, steps) in records.iter().zip(1..) {
            log.append(record, Tally { steps, input: 10 * steps, output: steps }).expect("there is room");
        }
        log.id().clone()
    }

    fn bytes(&self, id: &SessionId) -> Vec<u8> {
        std::fs::read(self.sessions.path_of(id)).expect("it is there")
    }

    fn put(&self, id: &SessionId, bytes: &[u8]) {
        std::fs::write(self.sessions.path_of(id), bytes).expect("it can be written");
    }

    /// Takes a session up; returns its records as text, and what is lost.
    fn read(&self, id: &SessionId) -> (Vec<String>, Damage) {
        let (_, kept) = self.sessions.take_up(id).expect("it can be taken up");
        let texts = kept.records.iter().map(|record| serde_json::from_str(record.get()).expect("a text was written"));
        (texts.collect(), kept.damage)
    }
}

/// Returns where the frames of a file end.
fn ends_of(path: &Path) -> Vec<usize> {
    let file = File::open(path).expect("it is there");
    let length = file.metadata().expect("it is open").len();
    let mut ends = Vec::new();
    let mut visit = |frame: frame::RecordFrame, _| {
        ends.push(usize::try_from(frame.end()).expect("it is small"));
        Ok(())
    };
    frame::scan(&file, length, &mut visit).expect("it can be read");
    ends
}

#[test]
fn what_was_written_is_there_when_the_session_is_taken_up_and_goes_on() {
    let place = SessionsFixture::new();
    let id = place.written(&["one", "two"]);
    let (log, kept) = place.sessions.take_up(&id).expect("it is there");
    assert_eq!(kept.tally, Tally { steps: 2, input: 20, output: 2 });
    log.append(&"three", kept.tally).expect("there is room");
    drop(log);
    assert_eq!(place.read(&id), (["one", "two", "three"].map(str::to_owned).to_vec(), Damage::default()));
}

#[test]
fn a_name_stays_with_the_session_and_finds_it() {
    let place = SessionsFixture::new();
    let begun = place.sessions.begin("mend the bug").expect("a session can be begun");
    begun.append(&"one", Tally::default()).expect("there is room");
    assert_eq!(begun.read_back().expect("it can be read").records.len(), 1);
    let id = begun.id().clone();
    drop(begun);
    let (log, kept) = place.sessions.take_up(&id).expect("it is there");
    log.rename(Some("fix-login"), kept.tally).expect("there is room");
    log.append(&"two", kept.tally).expect("there is room");
    assert_eq!(log.read_back().expect("it can be read").name.as_deref(), Some("fix-login"));
    drop(log);
    let listed = place.sessions.list().expect("they can be read");
    assert_eq!((listed[0].name.as_deref(), listed[0].words.as_deref()), (Some("fix-login"), Some("mend the bug")));
    assert_eq!(place.sessions.find("Fix-Login").expect("it has this name"), id);
    let (log, kept) = place.sessions.take_up(&id).expect("it is there");
    assert_eq!((kept.name.as_deref(), kept.times.len()), (Some("fix-login"), kept.records.len()));
    log.append(&"three", kept.tally).expect("there is room");
    drop(log);
    assert_eq!(place.sessions.list().expect("they can be read")[0].name.as_deref(), Some("fix-login"));
}

#[test]
fn a_file_cut_anywhere_opens_and_loses_what_was_cut() {
    let place = SessionsFixture::new();
    let records = ["one", "", "three: ünïcode"];
    let id = place.written(&records);
    let (bytes, ends) = (place.bytes(&id), ends_of(&place.sessions.path_of(&id)));
    for length in 0..bytes.len() {
        place.put(&id, &bytes[..length]);
        let whole = ends.iter().filter(|end| **end <= length).count();
        let torn = (length - ends[..whole].last().copied().unwrap_or(0)) as u64;
        if whole == 0 && length > 0 {
            let refused = place.sessions.take_up(&id).expect_err("there is nothing to take up");
            assert!(matches!(refused, SessionError::Unreadable { .. }), "cut at {length}: {refused}");
            assert_eq!(place.bytes(&id), bytes[..length], "what cannot be read is left alone");
            continue;
        }
        let (left, damage) = place.read(&id);
        assert_eq!(left, records[..whole.saturating_sub(1)], "cut at {length}");
        assert_eq!(damage, Damage { torn, ..Damage::default() }, "cut at {length}");
        assert_eq!(place.read(&id), (left, Damage::default()), "it is cut, and told once");
    }
}

#[test]
fn a_flipped_bit_anywhere_costs_its_record_and_is_told() {
    let place = SessionsFixture::new();
    let records = ["one", "two", "three"];
    let id = place.written(&records);
    let (bytes, ends) = (place.bytes(&id), ends_of(&place.sessions.path_of(&id)));
    for index in 0..bytes.len() {
        let bit = index % 8;
        let mut damaged = bytes.clone();
        damaged[index] ^= 1 << bit;
        place.put(&id, &damaged);
        let hit = ends.iter().filter(|end| **end <= index).count();
        let left: Vec<&str> =
            records.iter().enumerate().filter(|(at, _)| at + 1 != hit).map(|(_, text)| *text).collect();
        let (found, damage) = place.read(&id);
        assert_eq!(found, left, "byte {index}, bit {bit}");
        assert!(damage.is_any(), "byte {index}, bit {bit}");
    }
}

#[test]
fn a_byte_too_many_or_too_few_costs_what_lies_behind_it_and_destroys_nothing() {
    let place = SessionsFixture::new();
    let id = place.written(&["one", "two", "three", "four"]);
    let (bytes, ends) = (place.bytes(&id), ends_of(&place.sessions.path_of(&id)));
    for at in ends[1]..ends[2] {
        for with in [&b"x"[..], b""] {
            let odd = [&bytes[..at], with, &bytes[at + usize::from(with.is_empty())..]].concat();
            place.put(&id, &odd);
            let (log, kept) = place.sessions.take_up(&id).expect("its beginning is there");
            assert!(kept.damage.torn == 0 && kept.damage.places == 1, "{at}: {:?}", kept.damage);
            log.append(&"five", kept.tally).expect("there is room");
            drop(log);
            let (left, damage) = place.read(&id);
            assert_eq!((left, damage.places), (["one", "five"].map(str::to_owned).to_vec(), 1), "{at}");
            assert!(place.bytes(&id).starts_with(&odd), "nothing is cut");
        }
    }
}

#[test]
fn a_file_that_is_none_of_ours_is_refused_and_left_alone() {
    let place = SessionsFixture::new();
    let id = place.written(&["one"]);
    let noise: Vec<u8> = (0..5_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    place.put(&id, &noise);
    let refused = place.sessions.take_up(&id).expect_err("there is nothing to take up");
    assert!(refused.to_string().contains("holds 5000 bytes and no record"), "{refused}");
    assert_eq!(place.bytes(&id), noise);
}

#[test]
fn two_cannot_write_one_session() {
    let place = SessionsFixture::new();
    let log = place.sessions.begin("a").expect("a session can be begun");
    let busy = place.sessions.take_up(log.id()).expect_err("it is open");
    assert!(matches!(busy, SessionError::Busy(_)), "{busy}");
    let id = log.id().clone();
    drop(log);
    let _first = place.sessions.take_up(&id).expect("nobody writes it");
    assert!(matches!(place.sessions.take_up(&id), Err(SessionError::Busy(_))));
}

#[test]
fn a_list_has_the_newest_first_and_says_how_each_began_and_how_far_it_is() {
    let place = SessionsFixture::new();
    assert_eq!(place.sessions.list().expect("nothing is no error"), []);
    let ids = [place.written(&["a"]), place.written(&["b", "c"])];
    std::fs::write(place.sessions.folder.join("notes.txt"), "no session").expect("it can be written");
    let (log, kept) = place.sessions.take_up(&ids[0]).expect("it is there");
    // Later than the other by the clock, whatever that one says.
    let later = |name| SessionLogEntry { at_ms: now_ms() + 10_000, words: None, name, tally: kept.tally, record: None };
    log.write(later).expect("there is room");
    let listed = place.sessions.list().expect("the folder can be read");
    assert_eq!(listed.iter().map(|session| session.id.clone()).collect::<Vec<_>>(), ids);
    assert!(listed.iter().all(|session| session.words.as_deref() == Some("mend the bug")));
    assert_eq!(listed.iter().map(|session| session.tally.steps).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_damaged_session_is_listed_with_what_is_left() {
    let place = SessionsFixture::new();
    let id = place.written(&["a", "b"]);
    let mut bytes = place.bytes(&id);
    bytes[20] ^= 1;
    bytes.truncate(bytes.len() - 3);
    place.put(&id, &bytes);
    let listed = place.sessions.list().expect("the folder can be read");
    assert_eq!((listed[0].words.as_deref(), listed[0].tally.steps), (None, 1));
}

#[test]
fn a_full_session_takes_no_more_and_stays_whole() {
    let place = SessionsFixture::new();
    let sessions = Sessions { room: 1_000, ..place.sessions.clone() };
    let log = sessions.begin("a").expect("there is room");
    let error = std::iter::repeat_with(|| log.append(&"x".repeat(100), Tally::default())).find_map(Result::err);
    assert_eq!(error.expect("it is full at last").to_string(), "the session is full; begin another one");
    let id = log.id().clone();
    drop(log);
    let (records, damage) = place.read(&id);
    assert!(records.len() > 1 && !damage.is_any());
}

#[test]
fn the_oldest_sessions_go_when_there_are_too_many_but_not_one_that_is_open() {
    let place = SessionsFixture::new();
    let sessions = Sessions { most: 3, ..place.sessions.clone() };
    let open = sessions.begin("open").expect("there is room");
    let ids: Vec<SessionId> = (0..4).map(|_| place.written(&["a"])).collect();
    let last = sessions.begin("last").expect("there is room").id().clone();
    let left: Vec<SessionId> = sessions.list().expect("the folder can be read").into_iter().map(|one| one.id).collect();
    assert!(left.contains(open.id()) && left.contains(&last), "{left:?}");
    assert!(!left.contains(&ids[0]) && left.len() <= 4, "{left:?}");
}

#[test]
fn a_name_is_never_a_path() {
    for text in ["", "abcd", "../a-bbbb", "abcd-efg/", "abcd-efgh-", "ABCD-efgh", "abil-efgo"] {
        assert!(text.parse::<SessionId>().is_err(), "{text}");
    }
    let id = SessionId::new();
    assert_eq!(id.to_string().parse(), Ok(id));
    let place = SessionsFixture::new();
    let missing = place.sessions.take_up(&"0000-0000".parse().expect("it is a name")).expect_err("there is none");
    assert_eq!(missing.to_string(), "there is no session 0000-0000 in this workspace; \"haft sessions\" lists them");
}

#[test]
fn a_session_that_is_only_read_stays_as_it_is() {
    let place = SessionsFixture::new();
    let id = place.written(&["one", "two"]);
    let mut bytes = place.bytes(&id);
    bytes.truncate(bytes.len() - 3);
    place.put(&id, &bytes);
    let kept = place.sessions.read(&id).expect("it can be read");
    assert_eq!(kept.records.len(), 1);
    assert!(kept.damage.torn > 0 && kept.began_ms.is_some());
    assert_eq!(place.bytes(&id), bytes);
    let (_log, _) = place.sessions.take_up(&id).expect("it can be taken up");
    assert!(matches!(place.sessions.read(&id), Err(SessionError::Busy(_))));
    let other = "0000-0000".parse().expect("it is a name");
    assert!(matches!(place.sessions.read(&other), Err(SessionError::NotThere(_))));
}
