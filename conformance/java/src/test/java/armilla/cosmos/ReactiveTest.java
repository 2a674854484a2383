package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.ConsistencyLevel;
import com.azure.cosmos.CosmosAsyncContainer;
import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.ThroughputControlGroupConfigBuilder;
import com.azure.cosmos.models.CosmosBulkOperations;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.PriorityLevel;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** What the reactive client does in a way of its own, and settings of clients. */
class ReactiveTest extends CosmosTest {
    @Test
    void manyAtOnce() {
        CosmosAsyncContainer container = reactive(makeWideContainer());
        List<Integer> statuses = Flux.range(0, 100)
                .flatMap(number -> container.createItem(new Item("item " + number, "city " + number % 10, number)), 20)
                .map(response -> response.getStatusCode())
                .collectList().block();
        assertEquals(100, statuses.stream().filter(status -> status == 201).count());
        Long found = container.queryItems("SELECT * FROM c ORDER BY c.number", new CosmosQueryRequestOptions(), Item.class)
                .byPage(9).map(page -> (long) page.getResults().size()).reduce(Long::sum).block();
        assertEquals(100, found);
        var operations = Flux.range(0, 100)
                .map(number -> CosmosBulkOperations.getDeleteItemOperation("item " + number, key("city " + number % 10)));
        assertEquals(100, container.executeBulkOperations(operations)
                .filter(done -> done.getResponse().getStatusCode() == 204).count().block());
    }

    @Test
    void settingsOfClients() {
        CosmosContainer container = makeContainer();
        try (CosmosClient client = Clients.builder()
                .consistencyLevel(ConsistencyLevel.EVENTUAL)
                .preferredRegions(List.of("South Central US"))
                .userAgentSuffix("conformance")
                .endpointDiscoveryEnabled(false)
                .multipleWriteRegionsEnabled(true)
                .buildClient()) {
            CosmosContainer same = client.getDatabase(database.getId()).getContainer(container.getId());
            same.openConnectionsAndInitCaches();
            assertEquals(201, same.createItem(new Item("1", "Oslo", 1)).getStatusCode());
            assertTrue(same.getFeedRanges().size() == 1);
        }
    }

    private static CosmosItemRequestOptions inGroup(String name) {
        CosmosItemRequestOptions options = new CosmosItemRequestOptions();
        options.setThroughputControlGroupName(name);
        return options;
    }

    @Test
    void throughputControl() {
        CosmosContainer container = makeContainer();
        container.enableLocalThroughputControlGroup(new ThroughputControlGroupConfigBuilder()
                .groupName("mine").targetThroughputThreshold(0.9).priorityLevel(PriorityLevel.LOW).build());
        assertEquals(201, container.createItem(new Item("1", "Oslo", 1), key("Oslo"), inGroup("mine")).getStatusCode());
    }

    @Test
    void throughputBuckets() {
        CosmosContainer container = makeContainer();
        container.enableServerThroughputControlGroup(
                new ThroughputControlGroupConfigBuilder().groupName("bucket").throughputBucket(1).build());
        assertEquals(201, container.createItem(new Item("1", "Oslo", 1), key("Oslo"), inGroup("bucket")).getStatusCode());
    }
}
