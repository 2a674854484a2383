//! The worked example of a blog, left up by the program, and readers and writers who keep it busy.

import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';

import { Account } from '../tests/support/account';
import { servePage } from '../tests/support/page-server';
import { PROGRAM, type Server } from '../tests/support/server';

const ARGS = ['demo', 'blog', '--serve', '--users', '40', '--partitions', '6', '--seed', '1', '--relaxed'];

export interface Blog {
  /** Where the page is. */
  shown: Server;
  /** Where the server itself is. */
  direct: string;
}

/** Loads the example and leaves it up. */
export async function startBlog(): Promise<Blog> {
  const child = spawn(PROGRAM, ARGS, { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  const url = await ready(child);
  const server: Server = { url, pid: child.pid, stop };
  const shown = process.env['EXPLORER_PAGE'] === 'dist' ? await servePage(server) : server;
  return { shown, direct: url };
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (part: Buffer) => (said += part.toString()));
    child.stdout?.on('data', (part: Buffer) => {
      said += part.toString();
      const url = /explorer=(http:\/\/[^/]+)\//.exec(said)?.[1];
      if (url) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the example ended with ${code}: ${said}`)));
  });
}

/** How long a wave of visitors takes. */
const WAVE_MS = 30_000;

/** Returns how few visitors there are at a time: 0 is the crest of the wave. */
const calm = (at: number) => 0.5 + 0.5 * Math.cos((2 * Math.PI * at) / WAVE_MS);

/** Returns how long it is until the crest. */
export const untilCrest = () => (1.5 * WAVE_MS - (Date.now() % WAVE_MS)) % WAVE_MS;

/** What the busy container has in all, so that a small load is seen beside it. */
const BUSY_RU = 6_000;

interface Post {
  id: string;
  postId: string;
  userId: string;
  userUsername: string;
}

/** Readers and writers of posts, more of them at some times than at others, and one post that many look at. */
export class Traffic {
  private isOver = false;
  private ended: Promise<unknown> = Promise.resolve();

  constructor(private readonly account: Account) {}

  /** Sets the throughput so that the load is a good part of it, and begins. */
  async begin(): Promise<void> {
    const offer = await this.offerOfPosts();
    const content = { offerThroughput: -1, offerAutopilotSettings: { maxThroughput: BUSY_RU } };
    const set = await this.account.ask('PUT', `/offers/${String(offer['id'])}`, { ...offer, content });
    if (set.status >= 400) throw new Error(`the throughput: ${set.text}`);
    const posts = await this.account.query<Post>('blog-v2', 'posts', "SELECT TOP 200 c.id, c.postId, c.userId, c.userUsername FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC");
    this.ended = Promise.all(Array.from({ length: 6 }, (_, n) => this.visitor(n, posts)));
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.ended;
  }

  private async offerOfPosts(): Promise<Record<string, unknown>> {
    const container = (await this.account.ask('GET', '/dbs/blog-v2/colls/posts')).json<{ _rid: string }>();
    const { Offers } = (await this.account.ask('GET', '/offers')).json<{ Offers: Record<string, unknown>[] }>();
    const offer = Offers.find((one) => one['offerResourceId'] === container._rid);
    if (!offer) throw new Error('the container of posts has no throughput of its own');
    return offer;
  }

  private async visitor(number: number, posts: readonly Post[]): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      const isHot = turn % 5 === 0;
      const post = posts[isHot ? 0 : (turn * 7 + number * 31) % posts.length];
      if (!post) return;
      await this.visit(post, turn);
      // Waves, so that the lines of a chart have a shape.
      await new Promise((resolve) => setTimeout(resolve, 10 + 40 * calm(Date.now())));
    }
  }

  private async visit(post: Post, turn: number): Promise<void> {
    const key = { 'x-ms-documentdb-partitionkey': JSON.stringify([post.postId]) };
    const docs = '/dbs/blog-v2/colls/posts/docs';
    if (turn % 4 === 1) {
      const { postId, userId, userUsername } = post;
      const like = { id: randomUUID(), type: 'like', postId, userId, userUsername, creationDate: '2019-05-24T08:00:00.0000000Z' };
      await this.account.ask('POST', docs, like, key);
    } else if (turn % 2 === 0) {
      const query = "SELECT * FROM c WHERE c.type = 'comment' ORDER BY c.creationDate DESC";
      const asked = { ...key, 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
      await this.account.ask('POST', docs, { query, parameters: [] }, asked);
    } else {
      await this.account.ask('GET', `${docs}/${post.id}`, undefined, key);
    }
  }
}
