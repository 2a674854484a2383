package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import armilla.WithServer;
import com.azure.cosmos.CosmosAsyncContainer;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.CosmosException;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.ThroughputProperties;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/** A database for each test, and what makes containers and items in it. */
@ExtendWith(WithServer.class)
abstract class CosmosTest {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    CosmosDatabase database;

    @BeforeEach
    void makeDatabase() {
        String id = fresh("database");
        Clients.client().createDatabase(id);
        database = Clients.client().getDatabase(id);
    }

    @AfterEach
    void dropDatabase() {
        try {
            database.delete();
        } catch (CosmosException gone) {
            assertEquals(404, gone.getStatusCode());
        }
    }

    /** A name that no other test uses. */
    static String fresh(String prefix) {
        return prefix + "-" + NUMBERS.incrementAndGet();
    }

    CosmosContainer makeContainer() {
        return makeContainer(new CosmosContainerProperties(fresh("container"), "/city"));
    }

    CosmosContainer makeContainer(CosmosContainerProperties properties) {
        database.createContainer(properties);
        return database.getContainer(properties.getId());
    }

    /** A container over several physical partitions. */
    CosmosContainer makeWideContainer() {
        String id = fresh("wide");
        database.createContainer(
                new CosmosContainerProperties(id, "/city"), ThroughputProperties.createManualThroughput(24_000));
        return database.getContainer(id);
    }

    /** The same container as the reactive client sees it. */
    CosmosAsyncContainer reactive(CosmosContainer container) {
        return Clients.asyncClient().getDatabase(database.getId()).getContainer(container.getId());
    }

    /** Stores items of three cities, numbered from 0. */
    static List<Item> fill(CosmosContainer container, int count) {
        List<Item> stored = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            Item item = new Item("item " + number, List.of("Oslo", "Rome", "Bonn").get(number % 3), number);
            container.createItem(item);
            stored.add(item);
        }
        return stored;
    }

    static PartitionKey key(String city) {
        return new PartitionKey(city);
    }

    /** Expects the SDK to report this status; returns the error. */
    static CosmosException refused(int status, Executable operation) {
        CosmosException error = assertThrows(CosmosException.class, operation);
        assertEquals(status, error.getStatusCode(), error.getShortMessage());
        return error;
    }
}
