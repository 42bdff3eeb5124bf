//! The timeline drawn: a lane for each actor, and the events in their order.

use std::fmt::Write as _;

use crate::cli::read::report::html::escaped;
use crate::ledger::reading::named::EventSigned;

/// More events go into a further picture, so that each fits a narrow screen.
const EVENTS: usize = 12;
/// Sizes in the picture's own units; they are pixels on a wide screen.
const LABELS: usize = 150;
const STEP: usize = 34;
const LANE: usize = 36;
/// How many characters of a name fit beside a lane.
const NAME: usize = 18;

/// The pictures of a timeline; the numbers are those of the list below it.
pub fn draw(events: &[EventSigned]) -> String {
    let mut pictures = String::new();
    for (chunk, events) in events.chunks(EVENTS).enumerate() {
        pictures.push_str(&one(events, chunk * EVENTS + 1));
    }
    pictures
}

fn one(events: &[EventSigned], first: usize) -> String {
    let mut lanes: Vec<&str> = Vec::new();
    for event in events {
        let actor = actor(event);
        if !lanes.contains(&actor) {
            lanes.push(actor);
        }
    }
    let (width, height) = (LABELS + events.len() * STEP + 10, lanes.len() * LANE + 8);
    let mut svg = format!(
        "<div class=\"picture\"><svg role=\"img\" aria-label=\"Timeline\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    );
    let middle = |lane: usize| lane * LANE + LANE / 2 + 4;
    for (lane, name) in lanes.iter().enumerate() {
        let y = middle(lane);
        let short: String = match name.char_indices().nth(NAME) {
            Some(_) => name.chars().take(NAME - 1).chain(['…']).collect(),
            None => (*name).to_owned(),
        };
        let _ = writeln!(
            svg,
            "<text class=\"name\" x=\"0\" y=\"{}\">{}</text>\
             <line class=\"lane\" x1=\"{LABELS}\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\"/>",
            y + 5,
            escaped(&short)
        );
    }
    let points: Vec<(usize, usize)> = events
        .iter()
        .enumerate()
        .map(|(index, event)| {
            let lane = lanes.iter().position(|lane| *lane == actor(event)).unwrap_or(0);
            (LABELS + index * STEP + STEP / 2, middle(lane))
        })
        .collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    let _ = writeln!(svg, "<polyline class=\"path\" points=\"{}\"/>", path.join(" "));
    for (index, (event, (x, y))) in events.iter().zip(points).enumerate() {
        let number = first + index;
        let kind = &event.event.event_type;
        let _ = writeln!(
            svg,
            "<g class=\"dot {}\"><title>{number}. {}: {}</title>\
             <circle cx=\"{x}\" cy=\"{y}\" r=\"12\"/>\
             <text x=\"{x}\" y=\"{}\">{number}</text></g>",
            class(kind),
            escaped(actor(event)),
            escaped(kind),
            y + 4
        );
    }
    svg.push_str("</svg></div>\n");
    svg
}

fn actor(event: &EventSigned) -> &str {
    event.actor.as_deref().unwrap_or("(not named)")
}

/// How an event looks, by its type.
pub fn class(kind: &str) -> &'static str {
    match kind {
        "decision.approved" => "good",
        "decision.rejected" => "bad",
        "decision.needs_changes" | "disagreement.recorded" => "note",
        kind if kind.starts_with("review.") => "review",
        _ => "plain",
    }
}
