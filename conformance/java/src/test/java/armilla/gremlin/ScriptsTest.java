package armilla.gremlin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.driver.RequestOptions;
import org.apache.tinkerpop.gremlin.driver.ResultSet;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.util.ser.Serializers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scripts, as applications of the service send them, and in the formats of the driver. */
class ScriptsTest extends GremlinTest {
    @Test
    @SuppressWarnings("unchecked")
    void aVertexAsApplicationsReadIt() {
        loadModern();
        Client client = scripts(Serializers.GRAPHSON_V2);
        var vertex = (Map<String, Object>) run(client, "g.V('marko')").get(0);
        assertEquals("marko person vertex", vertex.get("id") + " " + vertex.get("label") + " " + vertex.get("type"));
        var properties = (Map<String, List<Map<String, Object>>>) vertex.get("properties");
        assertEquals("marko", properties.get("name").get(0).get("value"));
        assertEquals(List.of(Map.of("id", "marko|pk", "value", "people")), properties.get("pk"));
        var edge = (Map<String, Object>) run(client, "g.E('e7')").get(0);
        assertEquals(List.of("marko", "vadas", "edge"), List.of(edge.get("outV"), edge.get("inV"), edge.get("type")));
        assertEquals(Map.of("weight", 0.5), edge.get("properties"));
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V3", "GRAPHBINARY_V1"})
    void elementsWithTypes(Serializers format) {
        loadModern();
        Client client = scripts(format);
        var vertex = (Vertex) run(client, "g.V('marko')").get(0);
        assertEquals("marko", vertex.id());
        assertEquals("person", vertex.label());
        assertEquals("marko", vertex.value("name"));
        assertEquals(29, vertex.<Integer>value("age"));
        var edge = (Edge) run(client, "g.E('e7')").get(0);
        assertEquals(List.of("knows", "marko", "vadas"),
                List.of(edge.label(), edge.outVertex().id(), edge.inVertex().id()));
        assertEquals(0.5, edge.<Double>value("weight"));
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void stepsAndBindings(Serializers format) {
        loadModern();
        Client client = scripts(format);
        assertEquals(6, ((Number) run(client, "g.V().count()").get(0)).intValue());
        assertEquals(List.of("josh"), run(client, "g.V(who).out('knows').has('age', gt(age)).values('name')",
                Map.of("who", "marko", "age", 30)));
        assertEquals(List.of("josh", "lop"), run(client, "g.V().has('name', within(names)).order().by('name').id()",
                Map.of("names", List.of("lop", "josh"))));
        assertEquals(List.of("lop", "ripple"), run(client, "g.V('marko').repeat(out()).times(2).order().by(id).id()"));
        assertEquals(List.of(Map.of("name", List.of("marko"))), run(client, "g.V('marko').valueMap('name')"));
        assertEquals(List.of(true), run(client, "g.inject(x)", Map.of("x", true)));
        assertEquals(List.of(), run(client, "g.V('no-such')"));
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void writes(Serializers format) {
        Client client = scripts(format);
        String add = "g.addV('person').property('id', who).property('pk', 'p').property('age', age)";
        run(client, add, Map.of("who", "ada", "age", 36));
        run(client, add, Map.of("who", "bob", "age", 41));
        run(client, "g.V('ada').addE('knows').to(g.V('bob')).property('since', 1997)");
        assertEquals(List.of(1997), run(client, "g.V('ada').outE().values('since')"));
        run(client, "g.V('ada').property('age', 37)");
        assertEquals(List.of(37), run(client, "g.V('ada').values('age')"));
        run(client, "g.V('bob').drop()");
        assertEquals(List.of("ada"), run(client, "g.V().id()"));
        assertEquals(0, ((Number) run(client, "g.E().count()").get(0)).intValue());
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void theAttributesOfAnAnswer(Serializers format) {
        loadModern();
        ResultSet results = scripts(format).submit("g.V().has('name','josh')");
        assertEquals(1, results.all().join().size());
        Map<String, Object> attributes = results.statusAttributes().join();
        assertEquals(200, ((Number) attributes.get("x-ms-status-code")).intValue());
        assertTrue(((Number) attributes.get("x-ms-total-request-charge")).doubleValue() > 0);
        assertTrue(((Number) attributes.get("x-ms-total-server-time-ms")).doubleValue() > 0);
        assertEquals(36, ((String) attributes.get("x-ms-activity-id")).length());
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void errors(Serializers format) {
        loadModern();
        Client client = scripts(format);
        refused(597, 400, "Unable to find any method 'dance' @ line 1, column 12.", () -> run(client, "g.V().dance()"));
        refused(597, 400, "partition key", () -> run(client, "g.addV('person').property('id','x')"));
        refused(500, 409, "Conflicting request to resource has been attempted.",
                () -> run(client, "g.addV('person').property('id','marko').property('pk','people')"));
        String endless = "g.V().repeat(both()).times(30).path().count()";
        RequestOptions hurried = RequestOptions.build().timeout(100).create();
        refused(598, 1009, "", () -> client.submit(endless, hurried).all().join());
        assertEquals(6, ((Number) run(client, "g.V().count()").get(0)).intValue());
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void largeResultsAndManyRequests(Serializers format) {
        Client client = scripts(format);
        List<Integer> many = IntStream.range(0, 1_000).boxed().toList();
        assertEquals(many, run(client, "g.inject(many).unfold()", Map.of("many", many)));
        RequestOptions options = RequestOptions.build()
                .batchSize(7)
                .overrideRequestId(UUID.randomUUID())
                .addParameter("many", many)
                .create();
        assertEquals(1_000, client.submit("g.inject(many).unfold()", options).all().join().size());
        List<CompletableFuture<Integer>> answers = new ArrayList<>();
        for (int number = 0; number < 100; number++) {
            answers.add(client.submitAsync("g.inject(n)", Map.<String, Object>of("n", number))
                    .thenCompose(ResultSet::all)
                    .thenApply(found -> found.get(0).getInt()));
        }
        assertEquals(IntStream.range(0, 100).boxed().toList(), answers.stream().map(CompletableFuture::join).toList());
    }

    @Test
    void sessionsKeepNothingAndAreClosed() {
        Client session = open(builder(Serializers.GRAPHBINARY_V1)).connect(UUID.randomUUID().toString());
        assertEquals(List.of(1), run(session, "g.inject(1)"));
        session.close();
    }
}
