//! The language of Graphviz.

use std::fmt::{self, Write as _};

use super::{ArrowKind, Diagram, Node, Shape};
use crate::definition::FlowDefinition;

impl FlowDefinition {
    /// The step graph in the language of Graphviz: `dot -Tsvg` draws it.
    ///
    /// A step shows its name and what it waits for; a dashed arrow leads to the step that takes over when
    /// retries are used up, and one labelled `runs` to the flow whose runs it waits for.
    pub fn to_dot(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut text, self.name, &Diagram::of(self));
        text
    }
}

fn write(text: &mut String, name: &str, diagram: &Diagram) -> fmt::Result {
    writeln!(text, "digraph \"{}\" {{", escaped(name))?;
    for Node { id, shape, lines } in &diagram.nodes {
        let lines: Vec<_> = lines.iter().map(|line| escaped(line)).collect();
        let shape = match shape {
            Shape::Start => "circle",
            Shape::Entry => "plaintext",
            Shape::Step => "box",
            Shape::Rpc => "cds",
            Shape::SubFlow => "component",
        };
        writeln!(text, "    {id} [shape={shape}, label=\"{}\"];", lines.join("\\n"))?;
    }
    for arrow in &diagram.arrows {
        let style = match arrow.kind {
            ArrowKind::Next => "",
            ArrowKind::Failure => " [style=dashed, label=\"failure\"]",
            ArrowKind::Runs => " [label=\"runs\"]",
        };
        writeln!(text, "    {} -> {}{style};", arrow.from, arrow.to)?;
    }
    text.push_str("}\n");
    Ok(())
}

/// `text` in a quoted string, where a backslash begins an escape of its own.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
