//! Writes a tree in one line.
//!
//! Commands are in `<…>`, quoted text is in `‹…›`, and a `'` follows a quoted expansion.

use crate::syntax::{
    Assignment, CommandList, CommandNode, CommandPipeline, CommandStage, Direction, Link, ParameterExpansion,
    ParameterOperation, Quoting, Redirect, RedirectKind, Word, WordPart,
};

pub(crate) fn script(script: &CommandList) -> String {
    joined(&script.items, " ; ", item)
}

fn joined<T>(things: &[T], between: &str, shown: impl Fn(&T) -> String) -> String {
    things.iter().map(shown).collect::<Vec<_>>().join(between)
}

fn item(item: &CommandPipeline) -> String {
    let link = match item.link {
        Link::Always => "",
        Link::And => "&& ",
        Link::Or => "|| ",
    };
    let end = if item.in_background { " &" } else { "" };
    format!("{link}{}{end}", joined(&item.stages, " | ", stage))
}

fn stage(stage: &CommandStage) -> String {
    let node = match &stage.node {
        CommandNode::Simple(assignments, all) => {
            let space = if assignments.is_empty() || all.is_empty() { "" } else { " " };
            format!("<{}{space}{}>", joined(assignments, " ", assignment), words(all))
        }
        CommandNode::Group(inside) => format!("{{ {} }}", script(inside)),
        CommandNode::Subshell(inside) => format!("( {} )", script(inside)),
        CommandNode::If(scripts) => format!("if[{}]", joined(scripts, " / ", script)),
        CommandNode::While(condition, body) => format!("while[{} / {}]", script(condition), script(body)),
        CommandNode::For(name, Some(all), body) => format!("for[{name} in {} / {}]", words(all), script(body)),
        CommandNode::For(name, None, body) => format!("for[{name} / {}]", script(body)),
        CommandNode::CountingFor(all, body) => format!("count[{} / {}]", words(all), script(body)),
        CommandNode::Case(subject, cases) => {
            let case = |(patterns, body): &(Vec<Word>, CommandList)| format!("{}) {}", words(patterns), script(body));
            format!("case[{} / {}]", word(subject), joined(cases, " / ", case))
        }
        CommandNode::Function(name, body) => format!("function[{name} / {}]", self::stage(body)),
        CommandNode::Test(all) | CommandNode::Arithmetic(all) => format!("test[{}]", words(all)),
        CommandNode::Opaque(why) => format!("opaque[{why}]"),
    };
    let redirects = stage.redirects.iter().map(|one| format!(" {}", redirect(one)));
    format!("{node}{}", redirects.collect::<String>())
}

fn assignment(assignment: &Assignment) -> String {
    let sign = if assignment.is_added { "+=" } else { "=" };
    let index = assignment.index.as_ref().map(word).unwrap_or_default();
    format!("{}{index}{sign}({})", assignment.name, words(&assignment.values))
}

fn redirect(redirect: &Redirect) -> String {
    let descriptor = redirect.descriptor.map(|number| number.to_string()).unwrap_or_default();
    let sign = match redirect.kind {
        RedirectKind::Read => "<",
        RedirectKind::Write => ">",
        RedirectKind::Append => ">>",
        RedirectKind::ReadWrite => "<>",
        RedirectKind::WriteBoth => "&>",
        RedirectKind::AppendBoth => "&>>",
        RedirectKind::Duplicate => "=>",
        RedirectKind::HereDocument => "<<",
        RedirectKind::HereString => "<<<",
    };
    format!("{descriptor}{sign}{}", word(&redirect.target))
}

fn words(all: &[Word]) -> String {
    joined(all, " ", word)
}

fn word(word: &Word) -> String {
    if word.parts.is_empty() { "nothing".to_owned() } else { joined(&word.parts, "", part) }
}

fn part(part: &WordPart) -> String {
    let mark = |quoting: &Quoting| if *quoting == Quoting::Quoted { "'" } else { "" };
    match part {
        WordPart::Text(text, Quoting::Bare) => text.replace('\n', "⏎"),
        WordPart::Text(text, Quoting::Quoted) => format!("‹{}›", text.replace('\n', "⏎")),
        WordPart::Home(user) => format!("HOME[{user}]"),
        WordPart::Stacked(place) => format!("STACK[{place}]"),
        WordPart::Parameter(one, quoting) => format!("{}{}", parameter(one), mark(quoting)),
        WordPart::Substitution(inside, quoting) => format!("$({}){}", script(inside), mark(quoting)),
        WordPart::Process(inside, Direction::Out) => format!("out({})", script(inside)),
        WordPart::Process(inside, Direction::In) => format!("in({})", script(inside)),
        WordPart::Arithmetic(all) => format!("number({})", words(all)),
        WordPart::Opaque(why) => format!("opaque[{why}]"),
    }
}

fn parameter(parameter: &ParameterExpansion) -> String {
    let operation = match &parameter.operation {
        ParameterOperation::Plain => String::new(),
        ParameterOperation::Default(default) => format!(" or {}", word(default)),
        ParameterOperation::Assigned(default) => format!(" is {}", word(default)),
        ParameterOperation::Alternative(other) => format!(" then {}", word(other)),
        ParameterOperation::Required => " required".to_owned(),
        ParameterOperation::Slice(from, None) => format!(" from {from}"),
        ParameterOperation::Slice(from, Some(length)) => format!(" from {from} length {length}"),
        ParameterOperation::Edited(_, all) => format!(" edited {}", words(all)),
        ParameterOperation::Length => " length".to_owned(),
        ParameterOperation::Elements => " elements".to_owned(),
        ParameterOperation::Element(index) => format!(" element {}", word(index)),
        ParameterOperation::Keys => " keys".to_owned(),
        ParameterOperation::Indirect => " indirect".to_owned(),
        ParameterOperation::Prompt => " prompt".to_owned(),
        ParameterOperation::Strange(all) => format!(" strange {}", words(all)),
    };
    format!("${{{}{operation}}}", parameter.name)
}
