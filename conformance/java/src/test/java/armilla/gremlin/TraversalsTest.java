package armilla.gremlin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.tinkerpop.gremlin.process.traversal.Merge;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.Path;
import org.apache.tinkerpop.gremlin.process.traversal.Scope;
import org.apache.tinkerpop.gremlin.process.traversal.TextP;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.PartitionStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.SubgraphStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.verification.ReadOnlyStrategy;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.util.ser.Serializers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Traversals that the driver sends as bytecode, which the service does not take. */
class TraversalsTest extends GremlinTest {
    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void verticesAndEdges(Serializers format) {
        GraphTraversalSource g = traversals(format);
        Vertex ada = g.addV("person").property(T.id, "ada").property("pk", "a").property("age", 36).next();
        Vertex bob = g.addV("person").property(T.id, "bob").property("pk", "b").property("age", 41).next();
        Edge edge = g.V(ada).addE("knows").to(__.V("bob")).property("since", 1997).next();
        assertEquals(List.of("ada", "bob"), List.of(edge.outVertex().id(), edge.inVertex().id()));
        assertEquals(List.of("bob"), g.V().has("age", P.gt(40)).id().toList());
        assertEquals(List.of("ada"), g.V(bob).in("knows").id().toList());
        assertEquals(List.of(1997), g.E(edge).values("since").toList());
        g.V("ada").property("age", 37).iterate();
        assertEquals(37, g.V("ada").values("age").next());
        g.V("bob").drop().iterate();
        assertEquals(1, g.V().count().next());
        assertEquals(0, g.E().count().next());
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V3", "GRAPHBINARY_V1"})
    void steps(Serializers format) {
        loadModern();
        GraphTraversalSource g = traversals(format);
        assertEquals(List.of("lop", "ripple"), g.V("marko").repeat(__.out()).times(2).id().order().toList());
        assertEquals(List.of("peter", "josh"),
                g.V().hasLabel("person").order().by("age", Order.desc).limit(2).values("name").toList());
        assertEquals(Map.of("person", 4L, "software", 2L), g.V().groupCount().by(T.label).next());
        assertEquals(Map.of(0L, List.of("vadas"), 1L, List.of("marko", "peter"), 2L, List.of("josh")),
                g.V().hasLabel("person").group().by(__.out("created").count())
                        .by(__.values("name").order().fold()).next());
        assertEquals(Map.of("name", "josh", "made", 2L),
                g.V("josh").project("name", "made").by("name").by(__.out("created").count()).next());
        assertEquals(Set.of("marko"), g.V().has("name", TextP.startingWith("m")).id().toSet());
        assertEquals(Set.of("josh", "marko"), g.V().has("age", P.gt(28).and(P.lt(33))).id().toSet());
        assertEquals(4L, g.V().hasLabel("person").fold().count(Scope.local).next());
        assertEquals(30.75, g.V().values("age").mean().next());
        assertEquals(List.of("none"), g.V("vadas").coalesce(__.<Object>out().id(), __.constant("none")).toList());
        assertEquals(174, g.V().repeat(__.both()).times(4).toList().size());
        Path path = g.V("marko").as("a").outE("created").inV().path().next();
        assertEquals(List.of("marko", "e9", "lop"),
                List.of(((Vertex) path.get("a")).id(), ((Edge) path.get(1)).id(), ((Vertex) path.get(2)).id()));
        assertTrue(g.V("marko").hasNext());
        assertTrue(g.V("no-such").tryNext().isEmpty());
        assertEquals(Map.of(T.id, "marko", T.label, "person", "age", 29),
                g.V("marko").elementMap("age").next());
    }

    @Test
    void valuesOfEveryKind() {
        GraphTraversalSource g = traversals(Serializers.GRAPHBINARY_V1);
        List<Object> values = List.of(1, 2L, (short) 3, (byte) 4, 0.5f, 0.25, true, 'c', "text \u00e9",
                new BigInteger("123456789012345678901234567890"), new BigDecimal("1.50"), UUID.randomUUID(),
                OffsetDateTime.parse("2026-01-02T03:04:05.678Z"), List.of(1, "a"), Set.of("b"), Map.of("k", 1L),
                T.id, Direction.OUT);
        for (Object value : values) {
            assertEquals(value, g.inject(value).next(), value.getClass().getName());
        }
        assertArrayEquals(values.subList(0, 3).toArray(), g.inject(1, 2L, (short) 3).toList().toArray());
    }

    @Test
    void merging() {
        GraphTraversalSource g = traversals(Serializers.GRAPHBINARY_V1);
        for (int seen : new int[] {1, 2}) {
            for (String id : List.of("a", "b")) {
                g.mergeV(Map.<Object, Object>of(T.id, id, T.label, "person", "pk", "p"))
                        .option(Merge.onMatch, Map.<Object, Object>of("seen", seen))
                        .iterate();
            }
            g.mergeE(Map.<Object, Object>of(T.label, "knows", Direction.OUT, "a", Direction.IN, "b")).iterate();
        }
        assertEquals(2, g.V().count().next());
        assertEquals(1, g.E().count().next());
        assertEquals(2, g.V("a").values("seen").next());
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V3", "GRAPHBINARY_V1"})
    void strategies(Serializers format) {
        loadModern();
        GraphTraversalSource g = traversals(format);
        var people = PartitionStrategy.build().partitionKey("pk").readPartitions("people").create();
        assertEquals(4, g.withStrategies(people).V().count().next());
        var software = SubgraphStrategy.build().vertices(__.hasLabel("software")).create();
        assertEquals(2, g.withStrategies(software).V().count().next());
        refused(500, 403, "", () -> g.withStrategies(ReadOnlyStrategy.instance()).addV("x").property("pk", "p").next());
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V3", "GRAPHBINARY_V1"})
    void errorsAndTransactions(Serializers format) {
        loadModern();
        GraphTraversalSource g = traversals(format);
        refused(500, 409, "Conflicting request to resource",
                () -> g.addV("person").property(T.id, "marko").property("pk", "people").next());
        refused(597, 400, "partition key", () -> g.addV("person").next());
        refused(598, 1009, "",
                () -> g.with("evaluationTimeout", 100L).V().repeat(__.both()).times(30).path().count().next());
        var transaction = g.tx();
        GraphTraversalSource inside = transaction.begin();
        assertEquals(6, inside.V().count().next());
        refused(597, 400, "Graph does not support transactions", transaction::commit);
    }
}
