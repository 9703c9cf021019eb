use encoding_rs::*;
use proptest::prelude::*;

use super::*;

/// The forms that texts are made in: encoding and mark.
const FORMS: [(&Encoding, &[u8]); 17] = [
    (UTF_8, b""),
    (UTF_8, b"\xef\xbb\xbf"),
    (UTF_16LE, b"\xff\xfe"),
    (UTF_16BE, b"\xfe\xff"),
    (UTF_16LE, b""),
    (WINDOWS_1252, b""),
    (WINDOWS_1251, b""),
    (ISO_8859_2, b""),
    (ISO_8859_15, b""),
    (KOI8_R, b""),
    (SHIFT_JIS, b""),
    (EUC_JP, b""),
    (GB18030, b""),
    (BIG5, b""),
    (EUC_KR, b""),
    (WINDOWS_874, b""),
    (MACINTOSH, b""),
];
const LINE_ENDS: [&[&str]; 4] = [&["\n"], &["\r\n"], &["\r"], &["\n", "\r\n", "\r"]];

/// Characters that the encoding has and that survive the way there and back.
fn characters_of(encoding: &'static Encoding) -> Vec<char> {
    let candidates = (' '..='~')
        .chain('\u{a0}'..='\u{24f}')
        .chain('\u{390}'..='\u{45f}')
        .chain('\u{e01}'..='\u{e5b}')
        .chain('\u{2010}'..='\u{20ac}')
        .chain('\u{3041}'..='\u{30ff}')
        .chain('\u{4e00}'..='\u{4fff}')
        .chain('\u{ac00}'..='\u{acff}')
        .chain('\u{1f600}'..='\u{1f60f}');
    let survives = |character: &char| {
        let text = character.to_string();
        let bytes = encode(encoding, &text);
        bytes.is_ok_and(|bytes| {
            decode_as(&bytes, TextForm { encoding, mark: b"" }).is_ok_and(|decoded| decoded.text == text)
        })
    };
    candidates.filter(survives).collect()
}

/// Makes a text out of numbers: nearly all are characters, some are line ends.
fn text_of(numbers: &[u16], characters: &[char], ends: &[&str]) -> String {
    let piece = |number: &u16| match usize::from(*number) {
        number if number % 9 == 0 => ends[number / 9 % ends.len()].to_owned(),
        number => characters[number % characters.len()].to_string(),
    };
    numbers.iter().map(piece).collect()
}

/// Makes sorted ranges of a text, each with a new text for it, out of places in thousandths.
fn replacements_of(text: &str, places: &[(u16, u16)], new_texts: &[String]) -> Vec<(Range<usize>, String)> {
    let mut bounds: Vec<usize> = places
        .iter()
        .flat_map(|(one, other)| [*one, *other])
        .map(|place| text.floor_char_boundary(text.len() * usize::from(place) / 1000))
        .collect();
    bounds.sort_unstable();
    bounds.chunks_exact(2).zip(new_texts).map(|(range, new)| (range[0]..range[1], new.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_edit_changes_its_stretches_and_no_other_byte(
        numbers in prop::collection::vec(any::<u16>(), 0..200),
        new_numbers in prop::collection::vec(prop::collection::vec(any::<u16>(), 0..12), 3),
        places in prop::collection::vec((0_u16..=1000, 0_u16..=1000), 0..=3),
    ) {
        for (encoding, mark) in FORMS {
            let characters = CHARACTERS.with(|known| known.of(encoding));
            for ends in LINE_ENDS {
                let text = text_of(&numbers, &characters, ends);
                let new_texts: Vec<String> = new_numbers.iter().map(|new| text_of(new, &characters, ends)).collect();
                check_edit(TextForm { encoding, mark }, &text, &replacements_of(&text, &places, &new_texts))?;
            }
        }
    }

    #[test]
    fn any_bytes_are_refused_or_come_back_as_they_were(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(decoded) = decode(&bytes) {
            prop_assert_eq!(decoded.splice(&bytes, &[]), Ok(bytes.clone()));
        }
    }
}

fn check_edit(form: TextForm, text: &str, replacements: &[(Range<usize>, String)]) -> Result<(), TestCaseError> {
    let body = encode(form.encoding, text).expect("the text is made of the encoding's characters");
    let original = [form.mark, &body].concat();
    let decoded = decode_as(&original, form).expect("what was encoded can be decoded");
    prop_assert_eq!(&*decoded.text, text);
    let replacements: Vec<(Range<usize>, &str)> =
        replacements.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
    let bytes = decoded.spliced(&original, &replacements).expect("the new text is made of the encoding's characters");
    prop_assert_eq!(decoded.size_after(&original, &replacements), bytes.len());
    match decoded.splice(&original, &replacements) {
        Ok(written) => {
            prop_assert_eq!(&written, &bytes);
            // The next reader finds the text that was meant.
            prop_assert_eq!(decode(&written).expect("it is text").text, replaced(text, &replacements));
        }
        // Letters at random are no language, so the next reader would guess another encoding.
        Err(error) => prop_assert!(matches!(error, Unencodable::ReadsDifferently { .. }), "{}", error),
    }
    let mut expected = form.mark.to_vec();
    let bytes_of = |text: &str| encode(form.encoding, text).expect("it is a part").into_owned();
    let place_of = |position: usize| form.mark.len() + bytes_of(&text[..position]).len();
    let mut taken = form.mark.len();
    for (range, new) in replacements {
        expected.extend_from_slice(&original[taken..place_of(range.start)]);
        expected.extend_from_slice(&bytes_of(new));
        taken = place_of(range.end);
    }
    expected.extend_from_slice(&original[taken..]);
    prop_assert_eq!(bytes, expected);
    Ok(())
}

thread_local! {
    static CHARACTERS: KnownCharacters = KnownCharacters::default();
}

/// The characters of each encoding, found once: a random test asks thousands of times.
#[derive(Default)]
struct KnownCharacters(std::cell::RefCell<std::collections::HashMap<&'static str, std::rc::Rc<[char]>>>);

impl KnownCharacters {
    fn of(&self, encoding: &'static Encoding) -> std::rc::Rc<[char]> {
        self.0.borrow_mut().entry(encoding.name()).or_insert_with(|| characters_of(encoding).into()).clone()
    }
}

fn form_of(bytes: &[u8]) -> String {
    match decode(bytes) {
        Ok(decoded) if decoded.form.has_mark() => format!("{} with a mark", decoded.form.name()),
        Ok(decoded) => decoded.form.name().to_owned(),
        Err(no_text) => no_text.to_string(),
    }
}

#[test]
fn text_of_many_languages_is_recognised() {
    let check = |encoding: &'static Encoding, text: &str| {
        let bytes = encode(encoding, text).expect("the encoding has these characters");
        let decoded = decode(&bytes).expect("it is text");
        assert_eq!((decoded.form.name(), &*decoded.text), (encoding.name(), text));
    };
    check(WINDOWS_1252, "Der Müller grüßt höflich, naïve façade, 5 €.\r\n");
    check(WINDOWS_1252, "El niño comió una manzana y la señora salió.\n");
    check(WINDOWS_1252, "Où êtes-vous allé hier, à la fête de Noël ?\n");
    check(WINDOWS_1252, "caf\u{e9}");
    check(WINDOWS_1251, "Привет, мир. Это обычный русский текст.\n");
    check(WINDOWS_1251, "Съешь же ещё этих мягких французских булок.\n");
    check(KOI8_U, "Привет, мир. Это обычный русский текст.\n");
    check(KOI8_U, "Съешь же ещё этих мягких французских булок.\n");
    check(IBM866, "Привет, мир. Это обычный русский текст.\n");
    check(ISO_8859_2, "Zażółć gęślą jaźń, proszę bardzo, śledź i źdźbło.\n");
    check(WINDOWS_1250, "Příliš žluťoučký kůň úpěl ďábelské ódy.\n");
    check(WINDOWS_1253, "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι.\n");
    check(WINDOWS_1255, "כל בני האדם נולדו בני חורין ושווים בערכם.\n");
    check(WINDOWS_1256, "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.\n");
    check(WINDOWS_874, "นี่คือประโยคภาษาไทยที่ใช้ทดสอบการเข้ารหัส\n");
    check(WINDOWS_874, "การทดสอบ อาคาร มาก ยาก\n");
    check(SHIFT_JIS, "これは日本語の文章です。カタカナも漢字もあります。\r\n");
    check(SHIFT_JIS, "吾輩は猫である。名前はまだ無い。\n");
    check(SHIFT_JIS, "ﾊﾝｶｸ ｶﾀｶﾅ ﾉ ﾌﾞﾝｼｮｳ ﾃﾞｽ。設定ﾌｧｲﾙ。\n");
    check(EUC_JP, "これは日本語の文章です。カタカナも漢字もあります。\n");
    check(EUC_JP, "吾輩は猫である。名前はまだ無い。どこで生れたか。\n");
    check(GB18030, "这是一个简体中文的句子，用来测试编码。\n");
    check(GB18030, "人人生而自由，在尊严和权利上一律平等。\n");
    check(BIG5, "這是一個繁體中文的句子，用來測試編碼。\n");
    check(BIG5, "人人生而自由，在尊嚴和權利上一律平等。\n");
    check(EUC_KR, "이것은 한국어 문장입니다. 인코딩을 시험합니다.\n");
    check(EUC_KR, "모든 인간은 태어날 때부터 자유로우며 동등하다.\n");
    // Half of its bytes could be UTF-8.
    check(EUC_KR, "테스트\n");
    check(UTF_16LE, "plain words without a mark\r\n");
    check(UTF_16BE, "plain words without a mark\r\n");
}

#[test]
fn marks_decide_and_are_not_part_of_the_text() {
    assert_eq!(form_of(b"\xef\xbb\xbfa\n"), "UTF-8 with a mark");
    assert_eq!(form_of(b"\xff\xfea\0\n\0"), "UTF-16LE with a mark");
    assert_eq!(form_of(b"\xfe\xff\0a\0\n"), "UTF-16BE with a mark");
    assert_eq!(form_of(b"\xff\xfe"), "UTF-16LE with a mark");
    assert_eq!(decode(b"\xef\xbb\xbfa").map(|decoded| decoded.text), Ok("a".into()));
    assert_eq!(form_of(b"\xff\xfe\0\0a\0\0\0"), "byte 0 does not fit UTF-32LE");
    assert_eq!(form_of(b"\0\0\xfe\xff\0\0\0a"), "byte 0 does not fit UTF-32BE");
}

#[test]
fn plain_text_is_utf_8_and_is_not_copied() {
    assert_eq!(form_of(b""), "UTF-8");
    assert_eq!(form_of(b"plain\x1b[0m\r\n"), "UTF-8");
    assert!(matches!(decode("größer".as_bytes()).expect("it is text").text, Cow::Borrowed("größer")));
}

#[test]
fn what_is_no_text_is_said_to_be_none() {
    assert_eq!(decode(b"ab\0c"), Err(NoText::Binary));
    assert_eq!(decode(b"\xef\xbb\xbfab\0c"), Err(NoText::Binary));
    assert_eq!(decode(&[b"text\n".repeat(50_000), vec![0]].concat()), Err(NoText::Binary));
    assert_eq!(decode(b"\x80\x01\x02\x03\x1f\x8b\xff\xfa\x05"), Err(NoText::Binary));
    assert_eq!(form_of(b"\xff\xfea\0\n"), "byte 4 does not fit UTF-16LE");
    assert_eq!(form_of(b"\xff\xfea\0\x00\xd8b\0"), "byte 4 does not fit UTF-16LE");
}

#[test]
fn utf_8_with_damage_is_not_taken_for_another_encoding() {
    let damaged = "größer, schöner, weiter\n".repeat(3) + "x";
    let bytes = [damaged.as_bytes(), b"\xe4y"].concat();
    assert_eq!(decode(&bytes), Err(NoText::BadEncoding { looks_like: Some("UTF-8"), at: damaged.len() }));
    assert_eq!(TextForm::detect(&bytes, Whole::Yes), Ok(TextForm::utf8()));
}

#[test]
fn little_utf_8_with_as_little_damage_is_damaged_utf_8() {
    let bad_at = |bytes: &[u8]| match decode(bytes) {
        Err(NoText::BadEncoding { looks_like: Some("UTF-8"), at }) => Some(at),
        _ => None,
    };
    assert_eq!(bad_at(b"\xc3\xa9 x\n\xff\n"), Some(5));
    assert_eq!(bad_at(b"\xc3\xa9\xff"), Some(2));
    assert_eq!(bad_at(&["é ü ö x\n".as_bytes(), b"\xff\xfe"].concat()), Some(11));
    assert_eq!(bad_at(&["naïve — x\n".as_bytes(), b"caf\xe9 \xe9t\xe9\n"].concat()), None);
    // A character that the end of the file cut off; a single byte is rather a letter of an older encoding.
    assert_eq!(bad_at(b"ok\n\xe2\x82"), Some(3));
    assert_eq!(bad_at(b"ok\n\xf0\x9f\x98"), Some(3));
    assert_eq!(form_of(b"ok, caf\xe9"), "windows-1252");
}

#[test]
fn an_odd_byte_far_behind_is_found() {
    let mut bytes = b"plain text\n".repeat(20_000);
    bytes.extend_from_slice(b"sch\xf6n und gr\xfcn\n");
    assert_eq!(form_of(&bytes), "windows-1252");
    assert_eq!(TextForm::detect(&bytes[..LOOKED_AT], Whole::No), Ok(TextForm::utf8()));
}

#[test]
fn a_character_across_the_end_of_the_beginning_is_no_odd_byte() {
    let bytes = ["x".repeat(LOOKED_AT - 1), "ö\n".repeat(9)].concat().into_bytes();
    assert_eq!(TextForm::detect(&bytes, Whole::Yes), Ok(TextForm::utf8()));
    assert_eq!(TextForm::detect(&bytes[..LOOKED_AT], Whole::No), Ok(TextForm::utf8()));
}

#[test]
fn a_character_that_the_encoding_lacks_is_named() {
    let bytes = b"sch\xf6n und gr\xfcn, na\xefve fa\xe7ade\n";
    let decoded = decode(bytes).expect("it is text");
    let told = decoded.splice(bytes, &[(0..0, "ok → no")]).expect_err("there is no arrow in it");
    assert_eq!(told.to_string(), "the file's encoding, windows-1252, has no character '→' (U+2192)");
}

#[test]
fn an_edit_that_would_be_read_as_something_else_is_refused() {
    let differs = |bytes: &[u8], replacements: &[(Range<usize>, &str)]| {
        let decoded = decode(bytes).expect("it is text");
        matches!(decoded.splice(bytes, replacements), Err(Unencodable::ReadsDifferently { .. }))
    };
    assert!(differs(b"a", &[(0..1, "\u{feff}")]));
    assert!(differs(b"a", &[(0..1, "\0")]));
    // "Ã©" in windows-1252 has the bytes of "é" in UTF-8.
    let umlaut = b"Das ist sch\xf6n und gut.";
    assert!(differs(umlaut, &[(11..13, "Ã©")]));
    assert!(!differs(umlaut, &[(11..13, "o")]));
    // The next reader has to guess again, and would guess another encoding.
    let latin = b"caf\xe9\nna\xefve\nfran\xe7ais d\xe9j\xe0\n";
    let all = 0..decode(latin).expect("it is text").text.len();
    assert!(differs(latin, &[(all.clone(), "x ÿÿÿ «þþ» ÐÐÐ")]));
    assert!(!differs(latin, &[(all.clone(), "thé")]));
    assert!(!differs(latin, &[(all, "the\n")]));
    let wide: Vec<u8> = "plain words\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(differs(&wide, &[(0..11, "漢字漢字漢字漢字漢字")]));
    assert!(!differs(&wide, &[(0..5, "漢字")]));
    assert!(!differs(&wide, &[(0..12, "")]));
}

#[test]
fn what_a_text_would_be_taken_for_is_told() {
    let told = |bytes: &[u8], new: &str| {
        let decoded = decode(bytes).expect("it is text");
        decoded.splice(bytes, &[(0..decoded.text.len(), new)]).expect_err("it reads differently").to_string()
    };
    assert_eq!(
        told(b"caf\xe9\nna\xefve\nfran\xe7ais d\xe9j\xe0\n", "x ÿÿÿ «þþ» ÐÐÐ"),
        "written as windows-1252, the file would be read as windows-1251 the next time"
    );
    let wide: Vec<u8> = "plain words\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(
        told(&wide, "漢字漢字漢字漢字漢字\n"),
        "written as UTF-16LE, the file would be read as binary data the next time"
    );
    assert_eq!(told(b"a", "\0"), "written as UTF-8, the file would be read as binary data the next time");
}

#[test]
fn a_piece_for_display_never_fails() {
    let latin = TextForm { encoding: WINDOWS_1252, mark: b"" };
    assert_eq!(latin.show(b"gr\xfcn", Whole::Yes), DisplayText { text: "grün".into(), lossy: false });
    let cut = TextForm::utf8().show("aß".as_bytes().split_at(2).0, Whole::No);
    assert_eq!(cut, DisplayText { text: "a".into(), lossy: false });
    assert_eq!(TextForm::utf8().show(b"a\xffb", Whole::Yes), DisplayText { text: "a\u{fffd}b".into(), lossy: true });
}
