//! The progress of a script, the requests so far, and the reasons why requests did not fit.

use std::time::Instant;

use haft_model::wire::Wire;

use super::answer::{AnswerBuilder, ScriptedAnswer};
use super::asked::ReplyRequest;
use super::fault::Fault;
use super::script::{ModelScript, ScriptedTurn};

/// What Gemini takes instead of a sign, for calls that it did not make; it says so in its guide to signatures.
const NO_SIGN: &str = "skip_thought_signature_validator";

/// The progress of a script, the requests so far, and the reasons why requests did not fit.
pub(super) struct ScriptState {
    script: ModelScript,
    /// The turn that is next.
    next: usize,
    /// How many of its faults have been met.
    faults_met: usize,
    /// The sign of the last reply, and the form and model in which it must come back.
    owed: Option<OwedSignature>,
    pub asked: Vec<ReplyRequest>,
    /// Why requests did not fit, a paragraph each.
    pub misfits: Vec<String>,
}

/// A signature that must come back to the model that gave it.
struct OwedSignature {
    wire: Wire,
    model: String,
    sign: String,
}

impl ScriptState {
    pub fn new(script: ModelScript) -> Self {
        Self { script, next: 0, faults_met: 0, owed: None, asked: Vec::new(), misfits: Vec::new() }
    }

    /// Notes a request and says what it is answered.
    pub fn answer(&mut self, asked: ReplyRequest, read: Result<(), String>) -> ScriptedAnswer {
        let answer = match read.and_then(|()| self.next_turn(&asked)) {
            Ok(turn) => self.tell(&turn, &asked),
            Err(why) => {
                let why = format!("request {} does not fit the script: {why}", self.asked.len());
                self.misfits.push(why.clone());
                ScriptedAnswer::error(asked.wire, 400, &why)
            }
        };
        self.asked.push(asked);
        answer
    }

    /// Notes that a request was answered to its end.
    pub fn answered(&mut self, number: usize) {
        if let Some(asked) = self.asked.get_mut(number) {
            asked.answered_at = Some(Instant::now());
        }
    }

    /// Returns how many turns have not been told.
    pub fn turns_left(&self) -> usize {
        self.script.turns.len().saturating_sub(self.next)
    }

    fn next_turn(&self, asked: &ReplyRequest) -> Result<ScriptedTurn, String> {
        let faults = asked.conversation.faults();
        if !faults.is_empty() {
            return Err(format!("no provider would take this history: {}", faults.join("; ")));
        }
        self.comes_back(asked)?;
        let count = self.script.turns.len();
        let Some(first) = self.script.turns.get(self.next) else {
            return Err(format!("all {count} turns of the script have been used; add a turn, or ask less"));
        };
        let (mut turn, mut lacks) = (Some(first), Vec::new());
        while let Some(tried) = turn {
            let missing = tried.expect.lacks(asked);
            if missing.is_empty() {
                return Ok(tried.clone());
            }
            lacks.push(missing.join("; "));
            turn = tried.otherwise.as_deref();
        }
        Err(format!("turn {} of {count}: {}", self.next, lacks.join("; otherwise: ")))
    }

    /// Providers take the results of calls only with the thoughts that led to them.
    fn comes_back(&self, asked: &ReplyRequest) -> Result<(), String> {
        let Some(OwedSignature { wire, model, sign }) = &self.owed else { return Ok(()) };
        let is_same = *wire == asked.wire && model == asked.model();
        let is_there = asked.text.contains(sign) || asked.text.contains(NO_SIGN);
        if is_same && !asked.conversation.last_results().is_empty() && !is_there {
            return Err(format!("the reply before these results was signed {sign:?}, and comes back without it"));
        }
        Ok(())
    }

    fn tell(&mut self, turn: &ScriptedTurn, asked: &ReplyRequest) -> ScriptedAnswer {
        // By the request and not by the turn: a call that was cut and the same call of the next try are two calls.
        let number = self.asked.len();
        let telling = AnswerBuilder { turn, number, piece_chars: self.script.piece_chars, asked };
        let answer = match turn.faults.get(self.faults_met) {
            Some(fault @ Fault::Slow(_)) => telling.fault(fault),
            Some(fault) => {
                self.faults_met += 1;
                return telling.fault(fault);
            }
            None => telling.reply(),
        };
        let (wire, model) = (asked.wire, asked.model().to_owned());
        self.owed = telling.sign().map(|sign| OwedSignature { wire, model, sign });
        self.next += 1;
        self.faults_met = 0;
        answer
    }
}
