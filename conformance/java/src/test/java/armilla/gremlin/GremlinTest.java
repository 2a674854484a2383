package armilla.gremlin;

import static org.apache.tinkerpop.gremlin.process.traversal.AnonymousTraversalSource.traversal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import armilla.Server;
import armilla.WithServer;
import armilla.cosmos.Clients;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.driver.Cluster;
import org.apache.tinkerpop.gremlin.driver.Result;
import org.apache.tinkerpop.gremlin.driver.exception.ResponseException;
import org.apache.tinkerpop.gremlin.driver.remote.DriverRemoteConnection;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.util.ser.Serializers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/** A graph for each test, what opens it, over TLS and with a login, and expectations. */
@ExtendWith(WithServer.class)
abstract class GremlinTest {
    static final String DATABASE = "graphs";

    // TinkerPop's graph `modern`, in two partitions.
    private static final List<String> MODERN = List.of(
            "g.addV('person').property(id,'marko').property('pk','people').property('name','marko').property('age',29)",
            "g.addV('person').property(id,'vadas').property('pk','people').property('name','vadas').property('age',27)",
            "g.addV('person').property(id,'josh').property('pk','people').property('name','josh').property('age',32)",
            "g.addV('person').property(id,'peter').property('pk','people').property('name','peter').property('age',35)",
            "g.addV('software').property(id,'lop').property('pk','things').property('name','lop')",
            "g.addV('software').property(id,'ripple').property('pk','things').property('name','ripple')",
            "g.V('marko').addE('knows').to(g.V('vadas')).property(id,'e7').property('weight',0.5)",
            "g.V('marko').addE('knows').to(g.V('josh')).property(id,'e8').property('weight',1.0)",
            "g.V('marko').addE('created').to(g.V('lop')).property(id,'e9').property('weight',0.4)",
            "g.V('josh').addE('created').to(g.V('ripple')).property(id,'e10').property('weight',1.0)",
            "g.V('josh').addE('created').to(g.V('lop')).property(id,'e11').property('weight',0.4)",
            "g.V('peter').addE('created').to(g.V('lop')).property(id,'e12').property('weight',0.2)");

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final List<Cluster> opened = new ArrayList<>();
    private final String name = "graph-" + NUMBERS.incrementAndGet();

    @BeforeEach
    void makeGraph() {
        Clients.client().createDatabaseIfNotExists(DATABASE);
        Clients.client().getDatabase(DATABASE).createContainer(name, "/pk");
    }

    @AfterEach
    void dropGraph() {
        // Closing takes two seconds of quiet, which nothing has to wait for.
        opened.forEach(Cluster::closeAsync);
        Clients.client().getDatabase(DATABASE).getContainer(name).delete();
    }

    /** The name that a login has for the graph of this test. */
    String graph() {
        return "/dbs/" + DATABASE + "/colls/" + name;
    }

    /** What every cluster is built from. */
    Cluster.Builder builder(Serializers format) {
        return Cluster.build("localhost")
                .port(Server.shared().gremlinPort())
                .path("/gremlin")
                .enableSsl(true)
                .credentials(graph(), Server.KEY)
                .minConnectionPoolSize(1)
                .maxConnectionPoolSize(1)
                .maxWaitForConnection(20_000)
                .serializer(format);
    }

    /** Opens a cluster that is closed after the test. */
    Cluster open(Cluster.Builder builder) {
        Cluster cluster = builder.create();
        opened.add(cluster);
        return cluster;
    }

    /** A client for scripts. */
    Client scripts(Serializers format) {
        return open(builder(format)).connect();
    }

    /** A source of traversals that are sent as bytecode. */
    GraphTraversalSource traversals(Serializers format) {
        return traversal().with(DriverRemoteConnection.using(open(builder(format)), "g"));
    }

    /** Puts the graph `modern` into the graph of this test. */
    void loadModern() {
        Client client = scripts(Serializers.GRAPHSON_V2);
        MODERN.forEach(script -> client.submit(script).all().join());
    }

    /** Runs a script and returns all results. */
    static List<Object> run(Client client, String script, Map<String, Object> bindings) {
        return client.submit(script, bindings).all().join().stream().map(Result::getObject).toList();
    }

    static List<Object> run(Client client, String script) {
        return run(client, script, Map.of());
    }

    /** Expects the server to refuse with this code, this inner one and this text; returns what the driver throws. */
    static ResponseException refused(int code, int inner, String text, Executable operation) {
        Throwable error = assertThrows(Throwable.class, operation);
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ResponseException found) {
                assertEquals(code, found.getResponseStatusCode().getValue(), found.getMessage());
                Map<String, Object> attributes = found.getStatusAttributes().orElseThrow();
                assertEquals(inner, ((Number) attributes.get("x-ms-status-code")).intValue(), found.getMessage());
                assertTrue(found.getMessage().contains(text), found.getMessage());
                return found;
            }
        }
        return fail(error);
    }
}
