//! Tests properties that hold for every text.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_text_breaks_the_reader(
        text in "(<tool_prompt>|</?description>|</?parameters>|<parameter name='a'>|</parameter>|<enum>|<!|--|\\[|&|;|#|x|[\\s<>='\"/]|\\PC){0,60}"
    ) {
        let checked = check(&text);
        prop_assert!(checked.prompt.is_some() || !checked.problems.is_empty());
        if let Some(prompt) = checked.prompt {
            let _ = prompt.apply(&find());
        }
    }

    #[test]
    fn words_come_back_as_they_were(words in "[a<&> \t\r\n]{0,30}|(?s).{0,30}", value in "[a-c<&\" ]{0,5}") {
        let mut own = spec(json!({ "x": { "enum": [value, "other"], "description": words } }), json!(["x"]));
        own.manual = Manual::plain("find", &words);
        let file = PromptFile::of(&own);
        let checked = check(&file.to_xml());
        let prompt = checked.prompt.expect("what is written can be read");
        prop_assert_eq!(prompt.apply(&own), Ok(own));
    }
}
