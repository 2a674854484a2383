package armilla;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Starts the shared server before the first test that wants it, and stops it after the last of the whole run. */
public final class WithServer implements BeforeAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) {
        Server.shared();
        context.getRoot()
                .getStore(ExtensionContext.Namespace.GLOBAL)
                .getOrComputeIfAbsent("server", key -> (AutoCloseable) () -> {
                    armilla.cosmos.Clients.close();
                    Server.closeShared();
                });
    }
}
