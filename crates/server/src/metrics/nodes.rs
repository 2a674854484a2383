//! The figures of a node: which others it knows, how many partitions each has, and what goes between them.

use armilla_engine::NodeFigures;

use super::{family, line, single};

/// Writes them, where several nodes serve the account.
pub(super) fn render(text: &mut String, figures: &NodeFigures) {
    let NodeFigures { nodes, asked, unanswered, answered } = figures;
    single(text, "armilla_nodes", "gauge", "Nodes that serve the account.", nodes.len() as f64);
    let name = "armilla_node_partitions";
    family(text, name, "gauge", "Physical partitions of a node, and the resource tree.");
    for node in nodes {
        let is_self = if node.is_self { "true" } else { "false" };
        let labels = [
            ("node", &*node.name),
            ("address", &node.address),
            ("version", &node.version),
            ("self", is_self),
        ];
        line(text, name, &labels, node.partitions as f64);
    }
    for (name, help, count) in [
        ("armilla_node_calls_total", "Requests that other nodes were asked to do.", asked),
        ("armilla_node_calls_unanswered_total", "Those that had no answer.", unanswered),
        ("armilla_node_calls_answered_total", "Requests that were done for other nodes.", answered),
    ] {
        single(text, name, "counter", help, *count as f64);
    }
}
