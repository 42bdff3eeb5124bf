//! One change, judged by the active policies.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::findings::evidence::{Bounded, Excused, LineHit, Unread};
use super::patterns::content::{Owner, Weighed};
use super::patterns::literals::Found;
use super::rules::rule::{Facts, ReadsLines};
use super::set::PolicySet;
use super::subject::{Line, Subject};
use crate::domain::value::PolicyResultStatus;

/// What one policy concluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The policy's name.
    pub policy: String,
    /// Whether the change passes.
    pub status: PolicyResultStatus,
    /// One sentence with counts, and with paths where a rule of one's own asks for them, and
    /// without any text of the change.
    pub message: String,
    /// An object of matched paths, line numbers and names of patterns, never the matched
    /// text. Lists are bounded; each `x` comes with its `x_total`.
    pub evidence: Value,
}

/// A running evaluation: the changed lines are streamed in, then it is finished.
#[derive(Debug)]
pub struct Evaluation<'a> {
    set: &'a PolicySet,
    subject: Subject<'a>,
    lines: Vec<Bounded<LineHit>>,
    matched: Vec<BTreeSet<usize>>,
    excused: Vec<Bounded<Excused>>,
    unread: Bounded<Unread>,
    /// The file of the last line, how many of its lines came, and which policies look at its
    /// removed and its added lines, where that was asked.
    path: String,
    count: u64,
    reads: Vec<[Option<bool>; 2]>,
    counts_lines: bool,
    /// How many lines changed in each file, where a rule counts them.
    file_lines: HashMap<String, u64>,
    found: Found,
    candidates: Vec<Owner>,
}

impl PolicySet {
    /// Begins the evaluation of a change.
    pub fn evaluate<'a>(&'a self, subject: Subject<'a>) -> Evaluation<'a> {
        Evaluation::new(self, subject)
    }
}

impl<'a> Evaluation<'a> {
    fn new(set: &'a PolicySet, subject: Subject<'a>) -> Self {
        let active = set.active.iter();
        Self {
            set,
            subject,
            lines: active.clone().map(|_| Bounded::default()).collect(),
            matched: vec![BTreeSet::new(); set.active.len()],
            excused: active.clone().map(|_| Bounded::default()).collect(),
            unread: Bounded::default(),
            path: String::new(),
            count: 0,
            reads: vec![[None; 2]; set.active.len()],
            counts_lines: active
                .clone()
                .any(|active| active.rule.lines().is_some_and(ReadsLines::counts_lines)),
            file_lines: HashMap::new(),
            found: Found::default(),
            candidates: Vec::new(),
        }
    }

    /// Whether any active policy looks at the changed lines. If none does, they need not be
    /// streamed.
    pub fn needs_lines(&self) -> bool {
        self.counts_lines || !self.set.content.is_empty()
    }

    /// Takes one changed line.
    pub fn line(&mut self, line: Line<'_>) {
        if line.path != self.path {
            self.next_file(line.path);
        }
        self.count += u64::from(!line.binary);
        let text = line.text.strip_suffix(b"\n").unwrap_or(line.text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        self.set.content.candidates(text, &mut self.found, &mut self.candidates);
        let candidates = std::mem::take(&mut self.candidates);
        for of_policy in candidates.chunk_by(|(one, _), (other, _)| one == other) {
            self.look(of_policy, &line, text);
        }
        self.candidates = candidates;
    }

    /// Looks for the patterns of one policy.
    fn look(&mut self, candidates: &[Owner], line: &Line<'_>, text: &[u8]) {
        let Some(&(policy, _)) = candidates.first() else { return };
        let Some(rule) = self.set.active[policy].rule.lines() else { return };
        let reads = &mut self.reads[policy][usize::from(line.added)];
        if !*reads.get_or_insert_with(|| rule.reads(line.path, line.added)) {
            return;
        }
        let patterns = rule.sought();
        let found = candidates.iter().map(|(_, pattern)| *pattern);
        let found: Vec<usize> = found.filter(|&pattern| patterns[pattern].is_in(text)).collect();
        if found.is_empty() {
            return;
        }
        let Weighed { counts, excused } = rule.weigh(line.path, text, found);
        let named = |found: &mut dyn Iterator<Item = usize>| {
            LineHit::new(line.path, line.number, found.map(|pattern| &patterns[pattern].name))
        };
        for alike in excused.chunk_by(|(_, one), (_, other)| one == other) {
            let found = &mut alike.iter().map(|(pattern, _)| *pattern);
            self.excused[policy].push(|| Excused { line: named(found), why: alike[0].1 });
        }
        if !counts.is_empty() {
            self.matched[policy].extend(&counts);
            self.lines[policy].push(|| named(&mut counts.into_iter()));
        }
    }

    fn next_file(&mut self, path: &str) {
        if self.counts_lines && self.count > 0 {
            *self.file_lines.entry(self.path.clone()).or_default() += self.count;
        }
        self.count = 0;
        self.reads.fill([None; 2]);
        path.clone_into(&mut self.path);
    }

    /// Notes that a part of the change could not be read: a file, or with `None` the change
    /// as a whole. `reason` is a short phrase for a reader, such as `submodule`, without any
    /// content of the file.
    pub fn not_scanned(&mut self, path: Option<&str>, reason: &str) {
        self.unread.push(|| Unread::new(path, reason));
    }

    /// The verdicts, in order of evaluation: one of each policy that applies.
    pub fn finish(mut self) -> Vec<Verdict> {
        self.next_file("");
        let seen = self.lines.iter().zip(&self.matched).zip(&self.excused);
        self.set
            .active
            .iter()
            .zip(seen)
            .filter_map(|(active, ((lines, matched), excused))| {
                let facts = Facts {
                    subject: &self.subject,
                    lines,
                    matched,
                    excused,
                    file_lines: &self.file_lines,
                    unread: &self.unread,
                };
                let judgement = active.rule.judge(&facts)?;
                Some(Verdict {
                    policy: active.name.clone(),
                    status: judgement.status,
                    message: judgement.message,
                    evidence: judgement.evidence,
                })
            })
            .collect()
    }
}
