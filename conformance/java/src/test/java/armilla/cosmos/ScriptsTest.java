package armilla.cosmos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosScripts;
import com.azure.cosmos.models.CosmosItemRequestOptions;
import com.azure.cosmos.models.CosmosQueryRequestOptions;
import com.azure.cosmos.models.CosmosStoredProcedureProperties;
import com.azure.cosmos.models.CosmosStoredProcedureRequestOptions;
import com.azure.cosmos.models.CosmosTriggerProperties;
import com.azure.cosmos.models.CosmosUserDefinedFunctionProperties;
import com.azure.cosmos.models.TriggerOperation;
import com.azure.cosmos.models.TriggerType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ScriptsTest extends CosmosTest {
    private static final CosmosQueryRequestOptions USUAL = new CosmosQueryRequestOptions();

    private CosmosContainer container;
    private CosmosScripts scripts;

    @BeforeEach
    void open() {
        container = makeContainer();
        scripts = container.getScripts();
    }

    @Test
    void storedProcedures() {
        var properties = new CosmosStoredProcedureProperties("hello",
                "function (name, list) { console.log('called'); getContext().getResponse().setBody('Hello ' + name + list.length); }");
        assertEquals(201, scripts.createStoredProcedure(properties).getStatusCode());
        refused(409, () -> scripts.createStoredProcedure(properties));
        var options = new CosmosStoredProcedureRequestOptions().setPartitionKey(key("Oslo")).setScriptLoggingEnabled(true);
        var ran = scripts.getStoredProcedure("hello").execute(List.of("Ann", List.of(1, 2)), options);
        assertEquals("\"Hello Ann2\"", ran.getResponseAsString());
        assertEquals("called", ran.getScriptLog());
        assertTrue(ran.getRequestCharge() > 0);

        assertEquals("hello", scripts.getStoredProcedure("hello").read().getProperties().getId());
        // What is replaced must have been read: the SDK takes the address from it.
        var changed = scripts.getStoredProcedure("hello").read().getProperties()
                .setBody("function () { throw new Error('on purpose'); }");
        scripts.getStoredProcedure("hello").replace(changed);
        var error = refused(400, () -> scripts.getStoredProcedure("hello").execute(List.of(), options));
        assertTrue(error.getMessage().contains("on purpose"), error.getShortMessage());

        assertEquals(1, scripts.readAllStoredProcedures().stream().count());
        assertEquals(1, scripts.queryStoredProcedures("SELECT * FROM c WHERE c.id = 'hello'", USUAL).stream().count());
        assertEquals(204, scripts.getStoredProcedure("hello").delete().getStatusCode());
        refused(404, () -> scripts.getStoredProcedure("hello").read());
    }

    /** The service looks at a script only when it runs. */
    @Test
    void scriptsAreStoredUnchecked() {
        scripts.createStoredProcedure(new CosmosStoredProcedureProperties("broken", "this is not a function"));
        var options = new CosmosStoredProcedureRequestOptions().setPartitionKey(key("Oslo"));
        refused(400, () -> scripts.getStoredProcedure("broken").execute(List.of(), options));
    }

    @Test
    void triggers() {
        var before = new CosmosTriggerProperties("stamp",
                "function () { var r = getContext().getRequest(); var b = r.getBody(); b.stamped = true; r.setBody(b); }");
        before.setTriggerType(TriggerType.PRE).setTriggerOperation(TriggerOperation.CREATE);
        assertEquals(201, scripts.createTrigger(before).getStatusCode());
        var after = new CosmosTriggerProperties("veto", "function () { throw new Error('vetoed'); }");
        after.setTriggerType(TriggerType.POST).setTriggerOperation(TriggerOperation.ALL);
        scripts.createTrigger(after);

        container.createItem(new Item("1", "Oslo", 1), key("Oslo"),
                new CosmosItemRequestOptions().setPreTriggerInclude(List.of("stamp")));
        assertTrue(container.readItem("1", key("Oslo"), ObjectNode.class).getItem().get("stamped").asBoolean());
        refused(400, () -> container.createItem(new Item("2", "Oslo", 1), key("Oslo"),
                new CosmosItemRequestOptions().setPostTriggerInclude(List.of("veto"))));
        refused(404, () -> container.readItem("2", key("Oslo"), Item.class));

        var read = scripts.getTrigger("stamp").read().getProperties();
        assertEquals(TriggerType.PRE, read.getTriggerType());
        read.setTriggerOperation(TriggerOperation.ALL);
        assertEquals(TriggerOperation.ALL, scripts.getTrigger("stamp").replace(read).getProperties().getTriggerOperation());
        assertEquals(2, scripts.readAllTriggers().stream().count());
        assertEquals(1, scripts.queryTriggers("SELECT * FROM c WHERE c.id = 'veto'", USUAL).stream().count());
        assertEquals(204, scripts.getTrigger("veto").delete().getStatusCode());
    }

    @Test
    void userDefinedFunctions() {
        var twice = new CosmosUserDefinedFunctionProperties("twice", "function (n) { return 2 * n; }");
        assertEquals(201, scripts.createUserDefinedFunction(twice).getStatusCode());
        container.createItem(new Item("1", "Oslo", 21));
        assertEquals(List.of(42.0),
                container.queryItems("SELECT VALUE udf.twice(c.number) FROM c", USUAL, Double.class).stream().toList());
        var changed = scripts.getUserDefinedFunction("twice").read().getProperties();
        changed.setBody("function (n) { return 3 * n; }");
        scripts.getUserDefinedFunction("twice").replace(changed);
        assertEquals("function (n) { return 3 * n; }", scripts.getUserDefinedFunction("twice").read().getProperties().getBody());
        assertEquals(1, scripts.readAllUserDefinedFunctions().stream().count());
        assertEquals(1, scripts.queryUserDefinedFunctions("SELECT * FROM c WHERE c.id = 'twice'", USUAL).stream().count());
        assertEquals(204, scripts.getUserDefinedFunction("twice").delete().getStatusCode());
    }
}
