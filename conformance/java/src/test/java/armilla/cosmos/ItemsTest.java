package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.ConsistencyLevel;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.CosmosItemIdentity;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosItemResponse;
import com.azure.cosmos.models.CosmosReadManyRequestOptions;
import com.azure.cosmos.models.IndexingDirective;
import com.azure.cosmos.models.PartitionKey;
import com.azure.cosmos.models.PartitionKeyBuilder;
import com.azure.cosmos.models.PartitionKeyDefinition;
import com.azure.cosmos.models.PartitionKeyDefinitionVersion;
import com.azure.cosmos.models.PartitionKind;
import com.azure.cosmos.models.SqlQuerySpec;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ItemsTest extends CosmosTest {
    /** New ones each time, since the SDK writes the key into them. */
    private static CosmosItemRequestOptions usual() {
        return new CosmosItemRequestOptions();
    }

    @Test
    void verbs() {
        CosmosContainer container = makeContainer();
        Item item = new Item("1", "Oslo", 1);
        CosmosItemResponse<Item> created = container.createItem(item);
        assertEquals(201, created.getStatusCode());
        assertEquals(item, created.getItem());
        assertNotNull(created.getSessionToken());
        assertTrue(created.getRequestCharge() > 0);
        assertNotNull(created.getDiagnostics());
        refused(409, () -> container.createItem(item, key("Oslo"), usual()));

        CosmosItemResponse<Item> read = container.readItem("1", key("Oslo"), Item.class);
        assertEquals(item, read.getItem());
        assertEquals(created.getETag(), read.getETag());

        Item changed = new Item("1", "Oslo", 2);
        CosmosItemResponse<Item> replaced = container.replaceItem(changed, "1", key("Oslo"), usual());
        assertEquals(changed, replaced.getItem());
        var stale = new CosmosItemRequestOptions().setIfMatchETag(created.getETag());
        assertEquals(0, refused(412, () -> container.replaceItem(changed, "1", key("Oslo"), stale)).getSubStatusCode());

        assertEquals(200, container.upsertItem(changed).getStatusCode());
        assertEquals(201, container.upsertItem(new Item("2", "Rome", 1), key("Rome"), usual()).getStatusCode());
        assertEquals(204, container.deleteItem("2", key("Rome"), usual()).getStatusCode());
        assertEquals(204, container.deleteItem(changed, usual()).getStatusCode());
        assertEquals(0, refused(404, () -> container.readItem("1", key("Oslo"), Item.class)).getSubStatusCode());
    }

    @Test
    void options() {
        CosmosContainer container = makeContainer();
        var quiet = new CosmosItemRequestOptions().setContentResponseOnWriteEnabled(false);
        CosmosItemResponse<Item> created = container.createItem(new Item("1", "Oslo", 1), key("Oslo"), quiet);
        assertNull(created.getItem());
        var careful = new CosmosItemRequestOptions()
                .setConsistencyLevel(ConsistencyLevel.EVENTUAL)
                .setSessionToken(created.getSessionToken())
                .setIfNoneMatchETag("\"other\"");
        assertEquals(200, container.readItem("1", key("Oslo"), careful, Item.class).getStatusCode());
        var unchanged = new CosmosItemRequestOptions().setIfNoneMatchETag(created.getETag());
        assertEquals(304, statusOfRead(container, unchanged));
    }

    private static int statusOfRead(CosmosContainer container, CosmosItemRequestOptions options) {
        try {
            return container.readItem("1", key("Oslo"), options, Item.class).getStatusCode();
        } catch (com.azure.cosmos.CosmosException error) {
            return error.getStatusCode();
        }
    }

    @Test
    void indexingDirectives() {
        CosmosContainer container = makeContainer();
        container.createItem(new Item("1", "Oslo", 1), key("Oslo"),
                new CosmosItemRequestOptions().setIndexingDirective(IndexingDirective.EXCLUDE));
        assertEquals(200, container.readItem("1", key("Oslo"), Item.class).getStatusCode());
    }

    @Test
    void replaceChangesAnId() {
        CosmosContainer container = makeContainer();
        container.createItem(new Item("before", "Oslo", 1));
        container.replaceItem(new Item("after", "Oslo", 1), "before", key("Oslo"), usual());
        refused(404, () -> container.readItem("before", key("Oslo"), Item.class));
        assertEquals(200, container.readItem("after", key("Oslo"), Item.class).getStatusCode());
    }

    @Test
    void keysOfEveryKind() {
        CosmosContainer container = makeContainer();
        int number = 0;
        for (Object city : new Object[] {"Oslo", "x".repeat(300), 1.5, 0, true, false}) {
            String id = "item " + number++;
            container.createItem(Map.of("id", id, "city", city));
            assertEquals(200, container.readItem(id, new PartitionKey(city), ObjectNode.class).getStatusCode());
        }
        container.createItem(Map.of("id", "none"));
        assertEquals(200, container.readItem("none", PartitionKey.NONE, ObjectNode.class).getStatusCode());
        Map<String, Object> nothing = new java.util.HashMap<>(Map.of("id", "null"));
        nothing.put("city", null);
        container.createItem(nothing);
        PartitionKey nullKey = new PartitionKeyBuilder().addNullValue().build();
        assertEquals(200, container.readItem("null", nullKey, ObjectNode.class).getStatusCode());
        refused(400, () -> container.createItem(new Item("x", "Oslo", 1), key("Rome"), usual()));
    }

    @Test
    void hierarchicalKeys() {
        PartitionKeyDefinition definition = new PartitionKeyDefinition();
        definition.setPaths(List.of("/country", "/city"));
        definition.setKind(PartitionKind.MULTI_HASH);
        definition.setVersion(PartitionKeyDefinitionVersion.V2);
        CosmosContainer container = makeContainer(new CosmosContainerProperties("places", definition));
        for (String[] place : new String[][] {{"NO", "Oslo"}, {"NO", "Bergen"}, {"IT", "Rome"}}) {
            container.createItem(Map.of("id", place[1], "country", place[0], "city", place[1]));
            PartitionKey whole = new PartitionKeyBuilder().add(place[0]).add(place[1]).build();
            assertEquals(200, container.readItem(place[1], whole, ObjectNode.class).getStatusCode());
        }
        PartitionKey prefix = new PartitionKeyBuilder().add("NO").build();
        assertEquals(2, container.readAllItems(prefix, ObjectNode.class).stream().count());
        var options = new CosmosQueryRequestOptions().setPartitionKey(prefix);
        assertEquals(2, container.queryItems("SELECT * FROM c ORDER BY c.city", options, ObjectNode.class).stream().count());
    }

    @Test
    void readMany() {
        CosmosContainer container = makeWideContainer();
        List<CosmosItemIdentity> wanted = new ArrayList<>();
        for (Item item : fill(container, 30)) {
            wanted.add(new CosmosItemIdentity(key(item.city()), item.id()));
        }
        wanted.add(new CosmosItemIdentity(key("Oslo"), "missing"));
        assertEquals(30, container.readMany(wanted, Item.class).getResults().size());
        var options = new CosmosReadManyRequestOptions().setConsistencyLevel(ConsistencyLevel.EVENTUAL);
        var found = container.readMany(wanted.subList(0, 1), options, Item.class);
        assertEquals(1, found.getResults().size());
        assertTrue(found.getRequestCharge() > 0);
    }

    @Test
    void readManyByPartitionKeys() {
        CosmosContainer container = makeWideContainer();
        fill(container, 30);
        List<PartitionKey> keys = List.of(key("Oslo"), key("Rome"));
        assertEquals(20, container.readManyByPartitionKeys(keys, Item.class).stream().count());
        assertEquals(2, container.readManyByPartitionKeys(
                keys, new SqlQuerySpec("SELECT * FROM c WHERE c.number < 2"), Item.class).stream().count());
    }

    @Test
    void readAll() {
        CosmosContainer container = makeContainer();
        fill(container, 9);
        assertEquals(3, container.readAllItems(key("Rome"), Item.class).stream().count());
    }

    @Test
    void deleteAllOfAKey() {
        CosmosContainer container = makeContainer();
        fill(container, 9);
        assertEquals(200, container.deleteAllItemsByPartitionKey(key("Rome"), usual()).getStatusCode());
        assertEquals(0, container.readAllItems(key("Rome"), Item.class).stream().count());
        assertEquals(3, container.readAllItems(key("Oslo"), Item.class).stream().count());
    }
}
