//! Mermaid's flowcharts.

use std::fmt::{self, Write as _};

use super::{ArrowKind, Diagram, Node, Shape};
use crate::definition::FlowDefinition;

impl FlowDefinition {
    /// The step graph as a Mermaid flowchart, which many Markdown viewers draw.
    ///
    /// A step shows its name and what it waits for; a dotted arrow leads to the step that takes over when
    /// retries are used up, and one labelled `runs` to the flow whose runs it waits for.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut text, &Diagram::of(self));
        text
    }
}

fn write(text: &mut String, diagram: &Diagram) -> fmt::Result {
    text.push_str("flowchart TD\n");
    for Node { id, shape, lines } in &diagram.nodes {
        let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
        let label = lines.join("<br/>");
        match shape {
            Shape::Start => writeln!(text, "    {id}((\"{label}\"))")?,
            Shape::Entry => writeln!(text, "    {id}>\"{label}\"]")?,
            Shape::Step => writeln!(text, "    {id}[\"{label}\"]")?,
            Shape::Rpc => writeln!(text, "    {id}([\"{label}\"])")?,
            Shape::SubFlow => writeln!(text, "    {id}[[\"{label}\"]]")?,
        }
    }
    for arrow in &diagram.arrows {
        let line = match arrow.kind {
            ArrowKind::Next => "-->",
            ArrowKind::Failure => "-.->|failure|",
            ArrowKind::Runs => "-->|runs|",
        };
        writeln!(text, "    {} {line} {}", arrow.from, arrow.to)?;
    }
    Ok(())
}

/// `text` in a quoted label: Mermaid reads entities there, and everything that could be HTML as HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("#quot;"),
            '#' => escaped.push_str("#35;"),
            '&' => escaped.push_str("#amp;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            // Backticks at both ends would make it Markdown, and `\n` would break the line.
            '`' => escaped.push_str("#96;"),
            '\\' => escaped.push_str("#92;"),
            other => escaped.push(other),
        }
    }
    escaped
}
