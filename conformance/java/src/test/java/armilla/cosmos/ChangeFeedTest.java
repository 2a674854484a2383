package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.ChangeFeedPolicy;
import com.azure.cosmos.models.CosmosChangeFeedRequestOptions;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.FeedRange;
import com.azure.cosmos.models.FeedResponse;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChangeFeedTest extends CosmosTest {
    private String position;

    /** Reads a feed to its end and remembers the position behind. */
    private List<JsonNode> changes(CosmosContainer container, CosmosChangeFeedRequestOptions options) {
        List<JsonNode> found = new ArrayList<>();
        for (FeedResponse<JsonNode> page : container.queryChangeFeed(options, JsonNode.class).iterableByPage()) {
            found.addAll(page.getResults());
            position = page.getContinuationToken();
            if (page.getResults().isEmpty()) {
                break;
            }
        }
        return found;
    }

    @Test
    void fromTheBeginningAndOn() {
        CosmosContainer container = makeWideContainer();
        fill(container, 20);
        var options = CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forFullRange());
        assertEquals(20, changes(container, options.setMaxItemCount(7)).size());
        container.upsertItem(new Item("late", "Oslo", 1));
        var rest = changes(container, CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(position));
        assertEquals(List.of("late"), rest.stream().map(change -> change.get("id").asText()).toList());
    }

    @Test
    void fromNow() {
        CosmosContainer container = makeContainer();
        fill(container, 3);
        var options = CosmosChangeFeedRequestOptions.createForProcessingFromNow(FeedRange.forFullRange());
        assertEquals(0, changes(container, options).size());
        container.createItem(new Item("late", "Oslo", 1));
        assertEquals(1, changes(container, CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(position)).size());
    }

    @Test
    void fromATime() throws InterruptedException {
        CosmosContainer container = makeContainer();
        fill(container, 3);
        Thread.sleep(1100);
        Instant start = Instant.now();
        Thread.sleep(1100);
        container.createItem(new Item("late", "Oslo", 1));
        var options = CosmosChangeFeedRequestOptions.createForProcessingFromPointInTime(start, FeedRange.forFullRange());
        assertEquals(1, changes(container, options).size());
    }

    @Test
    void ofRangesAndKeys() {
        CosmosContainer container = makeWideContainer();
        fill(container, 12);
        int total = 0;
        for (FeedRange range : container.getFeedRanges()) {
            total += changes(container, CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(range)).size();
        }
        assertEquals(12, total);
        var rome = CosmosChangeFeedRequestOptions.createForProcessingFromBeginning(FeedRange.forLogicalPartition(key("Rome")));
        assertEquals(4, changes(container, rome).size());
    }

    @Test
    void allVersionsAndDeletes() {
        CosmosContainerProperties properties = new CosmosContainerProperties("versions", "/city");
        properties.setChangeFeedPolicy(ChangeFeedPolicy.createAllVersionsAndDeletesPolicy(Duration.ofMinutes(60)));
        CosmosContainer container = makeContainer(properties);
        var now = CosmosChangeFeedRequestOptions.createForProcessingFromNow(FeedRange.forFullRange()).allVersionsAndDeletes();
        assertEquals(0, changes(container, now).size());
        container.createItem(new Item("1", "Oslo", 1));
        container.upsertItem(new Item("1", "Oslo", 2));
        container.deleteItem("1", key("Oslo"), new CosmosItemRequestOptions());
        var on = CosmosChangeFeedRequestOptions.createForProcessingFromContinuation(position).allVersionsAndDeletes();
        List<JsonNode> found = changes(container, on);
        assertEquals(List.of("create", "replace", "delete"),
                found.stream().map(change -> change.get("metadata").get("operationType").asText()).toList());
        assertTrue(found.get(0).get("current").get("number").asDouble() == 1);
    }
}
