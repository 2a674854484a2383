//! What is asked of every side.

use clap::ValueEnum;

/// Something that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// One vertex by its id
    Id,
    /// One vertex by its partition and its id
    Address,
    /// One vertex by an indexed property
    Has,
    /// One new vertex
    AddVertex,
    /// One new edge between two vertices that are there
    AddEdge,
    /// How many vertices are two steps away
    TwoHops,
    /// How many vertices are three steps away
    ThreeHops,
}

impl Case {
    pub(super) const ALL: [Case; 7] =
        [Case::Id, Case::Address, Case::Has, Case::AddVertex, Case::AddEdge, Case::TwoHops, Case::ThreeHops];

    pub(super) fn name(self) -> &'static str {
        match self {
            Case::Id => "V(id)",
            Case::Address => "V([pk,id])",
            Case::Has => "has(name)",
            Case::AddVertex => "addV",
            Case::AddEdge => "addE",
            Case::TwoHops => "two hops, count",
            Case::ThreeHops => "three hops, count",
        }
    }

    /// Returns the name of its figures.
    pub(super) fn key(self) -> &'static str {
        match self {
            Case::Id => "id",
            Case::Address => "address",
            Case::Has => "has",
            Case::AddVertex => "addVertex",
            Case::AddEdge => "addEdge",
            Case::TwoHops => "twoHops",
            Case::ThreeHops => "threeHops",
        }
    }

    /// Returns the script, whose parameters are bindings.
    pub(super) fn script(self) -> &'static str {
        match self {
            Case::Id => "g.V(x)",
            Case::Address => "g.V([pk, x])",
            Case::Has => "g.V().has('name', x)",
            Case::AddVertex => {
                "g.addV('person').property(id, x).property('pk', pk).property('name', name).property('age', age)"
            }
            Case::AddEdge => "g.V(x).addE('likes').to(__.V(y)).property('weight', weight)",
            Case::TwoHops => "g.V(x).out('knows').out('knows').dedup().count()",
            Case::ThreeHops => "g.V(x).out('knows').out('knows').out('knows').dedup().count()",
        }
    }

    /// Returns how many steps away it looks.
    pub(super) fn hops(self) -> Option<usize> {
        match self {
            Case::TwoHops => Some(2),
            Case::ThreeHops => Some(3),
            _ => None,
        }
    }
}

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// What is measured.
    Measured(Case),
    /// Sets a property of the loaded vertices, while something else is measured.
    Update,
}

impl Task {
    pub(super) fn script(self) -> &'static str {
        match self {
            Task::Measured(case) => case.script(),
            Task::Update => "g.V(x).property('age', age)",
        }
    }
}
