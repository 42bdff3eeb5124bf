//! How fast changed lines are scanned: MB/s for 5, 50 and 500 patterns, on ordinary code, on one
//! line of 20 MB, on a diff of 200,000 lines, and on input made to be slow.
//!
//! `cargo bench --bench policies`
#![allow(clippy::print_stdout, reason = "it is made to be read")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use govforge::domain::value::RiskLevel;
use govforge::policy::{Line, PolicySet, Subject};

const EXAMPLE: &str = include_str!("../../policies.example.toml");
const MEGABYTE: f64 = 1e6;
/// The best of so many runs is told: the others were disturbed.
const RUNS: usize = 3;

fn main() {
    let code = code();
    let bundle = [code.iter().flatten().copied().cycle().take(20_000_000).collect::<Vec<u8>>()];
    let near = [b"key_0000-z ".iter().copied().cycle().take(20_000_000).collect::<Vec<u8>>()];
    let all: String = (0..500).map(|n| format!("key_{n:04}-z ")).collect();
    let all = [all.into_bytes().into_iter().cycle().take(2_000_000).collect::<Vec<u8>>()];
    let binary =
        [(0..20_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()];
    let every_literal: Vec<Vec<u8>> = (0..50_000)
        .map(|n| format!("secret_{:04}_key key_{:04}-zz api_token_", n % 500, n % 500).into())
        .collect();
    println!(
        "{:<34} {:>10} {:>10} {:>10} {:>10}",
        "MB/s", "lines", "20 MB line", "binary", "hostile"
    );
    let sets = [
        ("5 literals", literals(5)),
        ("50 literals", literals(50)),
        ("500 literals", literals(500)),
        ("5 expressions", expressions(5)),
        ("50 expressions", expressions(50)),
        ("500 expressions", expressions(500)),
        ("5 expressions without a literal", shapeless(5)),
        ("50 expressions without a literal", shapeless(50)),
        ("a fresh init", EXAMPLE.to_owned()),
    ];
    for (name, file) in sets {
        let set = PolicySet::parse(file.as_bytes()).unwrap_or_else(|wrong| panic!("{wrong:?}"));
        println!(
            "{name:<34} {:>10.0} {:>10.0} {:>10.0} {:>10.1}",
            speed(&set, &code),
            speed(&set, &bundle),
            speed(&set, &binary),
            speed(&set, &every_literal),
        );
    }
    let file = expressions(500);
    let set = PolicySet::parse(file.as_bytes()).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    println!("500 expressions, one of them nearly in a 20 MB line: {:.1} MB/s", speed(&set, &near));
    println!("500 expressions, all of them nearly in a 2 MB line: {:.2} MB/s", speed(&set, &all));
}

/// 200,000 lines of made-up code.
fn code() -> Vec<Vec<u8>> {
    let words = ["let", "order", "=", "shop.find(id)?;", "return", "total", "//", "price", "key"];
    let mut seed = 7_u64;
    let mut lines = Vec::new();
    for number in 0..200_000 {
        let mut line = format!("    /* {number} */");
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let _ = write!(line, " {}", words[(seed >> 33) as usize % words.len()]);
        }
        lines.push(line.into_bytes());
    }
    lines
}

fn literals(count: usize) -> String {
    let patterns: Vec<String> = (0..count).map(|n| format!("\"secret_{n:04}_key\"")).collect();
    format!("[secret_pattern_detection]\ncontent_patterns = [{}]\n", patterns.join(", "))
}

fn expressions(count: usize) -> String {
    let patterns: Vec<String> =
        (0..count).map(|n| format!("'\\bkey_{n:04}-[0-9A-Za-z]{{20,40}}\\b'")).collect();
    format!("[own]\nkind = \"content\"\nregexes = [{}]\n", patterns.join(", "))
}

fn shapeless(count: usize) -> String {
    let patterns: Vec<String> =
        (0..count).map(|n| format!("'[0-9a-f]{{{}}}[g-z]{{8}}'", 20 + n)).collect();
    format!("[own]\nkind = \"content\"\nregexes = [{}]\n", patterns.join(", "))
}

fn speed(set: &PolicySet, lines: &[Vec<u8>]) -> f64 {
    let best = (0..RUNS).map(|_| time(set, lines)).min().unwrap_or_default();
    let bytes: usize = lines.iter().map(Vec::len).sum();
    bytes as f64 / MEGABYTE / best.as_secs_f64()
}

fn time(set: &PolicySet, lines: &[Vec<u8>]) -> Duration {
    let paths = ["src/shop.rs".to_owned()];
    let start = Instant::now();
    let mut evaluation = set.evaluate(Subject {
        risk_level: RiskLevel::Medium,
        author: None,
        files_changed: &paths,
        insertions: lines.len() as u64,
        deletions: 0,
    });
    for (number, text) in (1..).zip(lines) {
        evaluation.line(Line { path: &paths[0], number, added: true, binary: false, text });
    }
    std::hint::black_box(evaluation.finish());
    start.elapsed()
}
