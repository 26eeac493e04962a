//! Pictures of a flow: its step graph as text for programs that draw.
//!
//! [`Diagram`] says what is drawn; `mermaid` and `dot` only write it down. Nodes are numbered in the order in
//! which the members are written, so a name can hold what it likes and the text of a flow is always the same.
//! Where a flow completes is not drawn: a body that completes names no handle.

mod dot;
mod mermaid;

use super::describe::{Edge, EdgeKind, FlowDefinition, StepDefinition};

/// What is drawn of a flow.
struct Diagram {
    nodes: Vec<Node>,
    arrows: Vec<Arrow>,
}

struct Node {
    /// `s1` for the first step, `e1` for its entry, `r1` for the first RPC, `f1` for the first sub-flow, `start`.
    id: String,
    shape: Shape,
    /// What stands in it, line by line.
    lines: Vec<String>,
}

#[derive(Clone, Copy)]
enum Shape {
    /// Where runs begin.
    Start,
    /// Where a step is entered in a way that the flow does not show.
    Entry,
    Step,
    /// Comes from outside: an RPC that names a step.
    Rpc,
    /// Another flow, whose runs a step waits for.
    SubFlow,
}

struct Arrow {
    from: String,
    to: String,
    kind: ArrowKind,
}

#[derive(Clone, Copy)]
enum ArrowKind {
    Next,
    /// The step takes over when retries are used up.
    Failure,
    /// Runs of the flow are started and waited for.
    Runs,
}

impl Diagram {
    fn of(flow: &FlowDefinition) -> Self {
        let mut diagram = Self { nodes: Vec::new(), arrows: Vec::new() };
        for (place, step) in flow.steps.iter().enumerate() {
            let id = step_id(place);
            if step.start {
                diagram.nodes.push(Node {
                    id: "start".into(),
                    shape: Shape::Start,
                    lines: vec!["start".into()],
                });
                diagram.arrows.push(Arrow { from: "start".into(), to: id.clone(), kind: ArrowKind::Next });
            }
            if step.entry {
                let from = format!("e{}", place + 1);
                diagram.nodes.push(Node {
                    id: from.clone(),
                    shape: Shape::Entry,
                    lines: vec!["entry".into()],
                });
                diagram.arrows.push(Arrow { from, to: id.clone(), kind: ArrowKind::Next });
            }
            diagram.nodes.push(Node { id: id.clone(), shape: Shape::Step, lines: step_lines(step) });
            diagram.connect(flow, &id, step.edges);
        }
        diagram.add_sub_flows(flow);
        for (place, rpc) in flow.rpcs.iter().enumerate().filter(|(_, rpc)| !rpc.edges.is_empty()) {
            let id = format!("r{}", place + 1);
            diagram.nodes.push(Node { id: id.clone(), shape: Shape::Rpc, lines: vec![rpc.name.into()] });
            diagram.connect(flow, &id, rpc.edges);
        }
        diagram
    }

    /// One node for each flow, however many steps wait for its runs.
    fn add_sub_flows(&mut self, flow: &FlowDefinition) {
        let mut known: Vec<&str> = Vec::new();
        for (place, step) in flow.steps.iter().enumerate() {
            for name in step.wait.iter().flat_map(|wait| wait.sub_flows) {
                let number = known.iter().position(|other| other == name).unwrap_or_else(|| {
                    known.push(name);
                    let id = sub_flow_id(known.len() - 1);
                    self.nodes.push(Node { id, shape: Shape::SubFlow, lines: vec![(*name).into()] });
                    known.len() - 1
                });
                let (from, to) = (step_id(place), sub_flow_id(number));
                self.arrows.push(Arrow { from, to, kind: ArrowKind::Runs });
            }
        }
    }

    fn connect(&mut self, flow: &FlowDefinition, from: &str, edges: &[Edge]) {
        let arrows = edges.iter().filter_map(|edge| {
            let (place, _) = flow.step(edge.to)?;
            let kind = match edge.kind {
                EdgeKind::Next => ArrowKind::Next,
                EdgeKind::Failure => ArrowKind::Failure,
            };
            Some(Arrow { from: from.into(), to: step_id(place), kind })
        });
        self.arrows.extend(arrows);
    }
}

fn step_id(place: usize) -> String {
    format!("s{}", place + 1)
}

fn sub_flow_id(place: usize) -> String {
    format!("f{}", place + 1)
}

fn step_lines(step: &StepDefinition) -> Vec<String> {
    let wait = step.wait.as_ref().map(|wait| format!("waits: {} gives {}", wait.method, wait.outcome));
    [step.name.to_owned()].into_iter().chain(wait).collect()
}
