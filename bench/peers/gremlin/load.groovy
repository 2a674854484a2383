// Runs as the server starts: an index on the property that is looked for, then the graph from files of words.
graph.createIndex('name', Vertex.class)
new File('vertices').eachLine { line ->
    def (vid, pk, name, age) = line.split(' ')
    graph.addVertex(T.id, vid, T.label, 'person', 'pk', pk, 'name', name, 'age', age as int)
}
new File('edges').eachLine { line ->
    def (eid, from, to, weight) = line.split(' ')
    def source = graph.vertices(from).next()
    source.addEdge('knows', graph.vertices(to).next(), T.id, eid, 'weight', weight as double)
}
def globals = [:]
globals << [g : traversal().withEmbedded(graph)]
