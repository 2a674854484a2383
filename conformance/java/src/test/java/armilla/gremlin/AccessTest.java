package armilla.gremlin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import armilla.Server;
import java.util.List;
import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.util.ser.Serializers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who may connect, and how. */
class AccessTest extends GremlinTest {
    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void aWrongKeyIsRefused(Serializers format) {
        Client client = open(builder(format).credentials(graph(), "d3Jvbmc=")).connect();
        refused(401, 401, "Unauthorized: Invalid credentials provided", () -> run(client, "g.V().count()"));
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void graphsThatAreNotThere(Serializers format) {
        Client client = open(builder(format).credentials("/dbs/graphs/colls/nowhere", Server.KEY)).connect();
        refused(500, 404, "Owner resource does not exist", () -> run(client, "g.V().count()"));
    }

    @ParameterizedTest
    @EnumSource(value = Serializers.class, names = {"GRAPHSON_V2", "GRAPHSON_V3", "GRAPHBINARY_V1"})
    void withoutTls(Serializers format) {
        Client client = open(builder(format).enableSsl(false)).connect();
        assertEquals(List.of(1), run(client, "g.inject(1)"));
    }
}
