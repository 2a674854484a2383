// mongo-java-server on a port of this machine, with everything in memory: java -cp 'JARS/*' MongoJavaServer.java PORT
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

public class MongoJavaServer {
    public static void main(String[] arguments) throws Exception {
        new MongoServer(new MemoryBackend()).bind("127.0.0.1", Integer.parseInt(arguments[0]));
        Thread.currentThread().join();
    }
}
