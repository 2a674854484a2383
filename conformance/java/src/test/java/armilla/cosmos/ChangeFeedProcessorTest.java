package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.ChangeFeedProcessor;
import com.azure.cosmos.ChangeFeedProcessorBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.ChangeFeedPolicy;
import com.azure.cosmos.models.ChangeFeedProcessorItem;
import com.azure.cosmos.models.ChangeFeedProcessorOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class ChangeFeedProcessorTest extends CosmosTest {
    private static final Duration WAIT_MAX = Duration.ofSeconds(60);

    private static final ChangeFeedProcessorOptions OFTEN = new ChangeFeedProcessorOptions()
            .setFeedPollDelay(Duration.ofMillis(200))
            .setLeaseAcquireInterval(Duration.ofSeconds(1));

    private static void await(String what, BooleanSupplier done) throws InterruptedException {
        long deadline = System.nanoTime() + WAIT_MAX.toNanos();
        while (!done.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, what);
            Thread.sleep(100);
        }
    }

    private CosmosContainer leases() {
        return makeContainer(new CosmosContainerProperties(fresh("leases"), "/id"));
    }

    @Test
    void latestVersions() throws InterruptedException {
        CosmosContainer feed = makeWideContainer();
        CosmosContainer leases = leases();
        fill(feed, 10);
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        ChangeFeedProcessor processor = new ChangeFeedProcessorBuilder()
                .hostName("host")
                .feedContainer(reactive(feed))
                .leaseContainer(reactive(leases))
                .options(new ChangeFeedProcessorOptions()
                        .setStartFromBeginning(true)
                        .setMaxItemCount(3)
                        .setFeedPollDelay(Duration.ofMillis(200)))
                .handleLatestVersionChanges(changes ->
                        changes.forEach(change -> seen.add(change.getCurrent().get("id").asText())))
                .buildChangeFeedProcessor();
        assertFalse(processor.isStarted());
        processor.start().block();
        try {
            await("ten items of before", () -> seen.size() >= 10);
            feed.createItem(new Item("late", "Oslo", 1));
            await("one of now", () -> seen.contains("late"));
            assertEquals(11, seen.size());
            await("nothing is left", () -> {
                var states = processor.getCurrentState().block();
                return !states.isEmpty() && states.stream().allMatch(state -> state.getEstimatedLag() == 0);
            });
        } finally {
            processor.stop().block();
        }
    }

    /** The older handler gets items as they are. */
    @Test
    void plainItems() throws InterruptedException {
        CosmosContainer feed = makeContainer();
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        ChangeFeedProcessor processor = new ChangeFeedProcessorBuilder()
                .hostName("host")
                .feedContainer(reactive(feed))
                .leaseContainer(reactive(leases()))
                .options(OFTEN)
                .handleChanges(changes -> changes.forEach(change -> seen.add(change.get("id").asText())))
                .buildChangeFeedProcessor();
        processor.start().block();
        try {
            await("started", processor::isStarted);
            Thread.sleep(3000);
            feed.createItem(new Item("1", "Oslo", 1));
            await("the item", () -> seen.contains("1"));
            await("nothing is left", () -> processor.getEstimatedLag().block().values().stream().allMatch(lag -> lag == 0));
        } finally {
            processor.stop().block();
        }
    }

    @Test
    void allVersions() throws InterruptedException {
        CosmosContainerProperties properties = new CosmosContainerProperties("versions", "/city");
        properties.setChangeFeedPolicy(ChangeFeedPolicy.createAllVersionsAndDeletesPolicy(Duration.ofMinutes(60)));
        CosmosContainer feed = makeContainer(properties);
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        ChangeFeedProcessor processor = new ChangeFeedProcessorBuilder()
                .hostName("host")
                .feedContainer(reactive(feed))
                .leaseContainer(reactive(leases()))
                .options(OFTEN)
                .handleAllVersionsAndDeletesChanges((List<ChangeFeedProcessorItem> changes) -> changes.forEach(change ->
                        seen.add(change.getChangeFeedMetaData().getOperationType().toString())))
                .buildChangeFeedProcessor();
        processor.start().block();
        try {
            await("started", processor::isStarted);
            Thread.sleep(3000);
            feed.createItem(new Item("1", "Oslo", 1));
            feed.upsertItem(new Item("1", "Oslo", 2));
            feed.deleteItem("1", key("Oslo"), new CosmosItemRequestOptions());
            await("three changes", () -> seen.size() == 3);
            assertEquals(List.of("create", "replace", "delete"), seen.stream().map(String::toLowerCase).toList());
        } finally {
            processor.stop().block();
        }
    }
}
