//! The pictures of docs/explorer.md, in the order in which they are taken: the load runs from the first to the last.

import { expect, test, type Page } from '@playwright/test';

import { Account } from '../tests/support/account';
import { startServer } from '../tests/support/server';
import { servePage } from '../tests/support/page-server';
import { write } from '../tests/query-data';
import { write as writeInto } from '../tests/support/write';
import { startBlog, Traffic, untilCrest, type Blog } from './blog';
import { picture } from './picture';

const KEY = Buffer.from('the key of the account in the pictures, as long as such keys are.').toString('base64');

/** Seconds that the charts show. */
const MINUTE_MS = 62_000;

test.describe.configure({ mode: 'serial' });

let blog: Blog;
let account: Account;
let traffic: Traffic;
let busySince = 0;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  blog = await startBlog();
  account = new Account(blog.direct);
  traffic = new Traffic(account);
});

test.afterAll(async () => {
  await traffic.end();
  await blog.shown.stop();
});

/** Begins the load, if it has not begun yet. */
async function makeBusy(): Promise<void> {
  if (busySince !== 0) return;
  await traffic.begin();
  busySince = Date.now();
}

/** Waits until there is a minute to tell of. */
async function minute(page: Page): Promise<void> {
  await makeBusy();
  await page.waitForTimeout(Math.max(0, busySince + MINUTE_MS - Date.now()));
}

async function open(page: Page, place: string): Promise<void> {
  await page.goto(`${blog.shown.url}/_explorer/${place}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

test('query', async ({ page }) => {
  await open(page, '#/db/blog-v2/c/posts/query');
  await page.locator('.cm-content').waitFor();
  await write(page, "SELECT TOP 50 c.title, c.userUsername, c.commentCount, c.likeCount, c.creationDate\nFROM c\nWHERE c.type = 'post'\nORDER BY c.creationDate DESC");
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.locator('.query-status')).toContainText('50 rows');
  await picture(page, 'query', { height: 720 });
  await page.getByRole('tab', { name: 'Explain' }).click();
  await expect(page.getByRole('table', { name: /^Steps of the query/ })).toBeVisible();
  await picture(page, 'explain', { height: 1_060 });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('tab', { name: 'Partitions' }).click();
  await page.getByRole('button', { name: 'Ask each partition' }).click();
  await expect(page.getByRole('table', { name: /^What each physical partition/ })).toBeVisible();
  await picture(page, 'query-partitions');
});

test('scripts', async ({ page }) => {
  const [post] = await account.query<{ postId: string; userId: string }>('blog-v2', 'posts', "SELECT TOP 1 c.postId, c.userId FROM c WHERE c.type = 'post'");
  if (!post) throw new Error('the example has no post');
  await open(page, '#/db/blog-v2/c/posts/scripts/procedures/createComment');
  await page.getByLabel('/postId', { exact: true }).fill(post.postId);
  await page.getByRole('button', { name: 'Add an argument' }).click();
  await page.getByLabel('argument 1', { exact: true }).fill(post.postId);
  await page.getByRole('button', { name: 'Add an argument' }).click();
  await page.getByLabel('Type of argument 2').selectOption('json');
  const comment = { id: 'a-comment', type: 'comment', userId: post.userId, content: 'Well said.' };
  await page.getByLabel('argument 2', { exact: true }).fill(JSON.stringify(comment));
  await page.getByRole('checkbox', { name: /^Rehearse/ }).check();
  await page.getByRole('button', { name: 'Rehearse', exact: true }).click();
  await expect(page.locator('.run-outcome .facts').first()).toContainText(/RU/);
  await picture(page, 'scripts', { height: 860 });
});

test('items', async ({ page }) => {
  await makeBusy();
  const columns = [['title'], ['userUsername'], ['commentCount'], ['likeCount']];
  await page.addInitScript((kept) => localStorage.setItem('armilla.columns.["blog-v3","feed"]', kept), JSON.stringify(columns));
  await open(page, '#/db/blog-v3/c/feed/items');
  await page.getByLabel('Filter: what stands behind WHERE').fill('c.likeCount > 20 ORDER BY c.creationDate DESC');
  await page.keyboard.press('Enter');
  await page.getByRole('grid', { name: 'Items' }).getByRole('row').nth(3).click();
  await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('likeCount');
  await picture(page, 'items', { height: 560 });
  await picture(page, 'items-narrow', { width: 400 });
});

test('mongo', async ({ page }) => {
  await open(page, '#/db/blog-v2/c/posts/mongo');
  await page.getByLabel('What is asked').selectOption('aggregate');
  const stages = [
    { $match: { type: 'post' } },
    { $group: { _id: '$userUsername', posts: { $sum: 1 }, likes: { $sum: '$likeCount' } } },
    { $sort: { likes: -1 } },
    { $limit: 10 },
  ];
  await writeInto(page, 'Pipeline', `[\n${stages.map((stage) => `  ${JSON.stringify(stage)}`).join(',\n')}\n]`);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'RU' })).toContainText('10 documents');
  await picture(page, 'mongo');
});

test('gremlin', async ({ page }) => {
  await account.database('people');
  await account.container('people', 'graph', ['/pk'], {}, 400);
  await open(page, '#/db/people/c/graph/gremlin');
  for (const script of [GRAPH, 'g.V()']) {
    await page.locator('.cm-content[aria-label="Script"]').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(script);
    await page.getByRole('button', { name: /^Run/ }).click();
    await expect(page.getByRole('region', { name: 'Results' })).toContainText(/RU/);
  }
  await expect(page.getByText('10 results')).toBeVisible();
  // The drawing comes to rest.
  await page.waitForTimeout(3_000);
  await picture(page, 'gremlin');
});

test('feed', async ({ page }) => {
  await makeBusy();
  await open(page, '#/db/blog-v2/c/posts/feed');
  await page.getByRole('button', { name: 'Follow' }).click();
  const changes = page.getByRole('list', { name: 'Changes, the newest first' }).getByRole('listitem');
  await expect(changes.nth(12)).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await changes.nth(1).getByRole('button').first().click();
  await picture(page, 'feed', { height: 720 });
});

test('home', async ({ page }) => {
  await minute(page);
  await open(page, '');
  await expect(page.getByLabel('Figures of the account')).toContainText('RU');
  await page.getByRole('treeitem', { name: 'blog-v2' }).locator('.fold').click();
  await expect(page.getByRole('treeitem', { name: 'posts' })).toBeVisible();
  await picture(page, 'home');
  await picture(page, 'home-dark', { theme: 'dark' });
});

test('partitions', async ({ page }) => {
  await minute(page);
  await open(page, '#/db/blog-v2/c/posts/partitions');
  await expect(page.getByRole('group', { name: /in 6 arcs/ })).toBeVisible();
  await page.waitForTimeout(untilCrest() + 1_000);
  await picture(page, 'partitions', { height: 800 });
  await picture(page, 'partitions-dark', { theme: 'dark', height: 800 });
});

test('throughput', async ({ page }) => {
  await minute(page);
  await open(page, '#/db/blog-v2/c/posts/throughput');
  await expect(page.getByRole('figure', { name: /Request units used/ }).locator('canvas')).toBeVisible();
  await page.getByRole('tab', { name: 'By partition' }).click();
  await page.waitForTimeout(1_500);
  await picture(page, 'throughput', { height: 900 });
});

test('advice', async ({ page }) => {
  test.setTimeout(180_000);
  const users = await account.query<string>('blog-v2', 'posts', "SELECT DISTINCT VALUE c.userId FROM c WHERE c.type = 'post'");
  // What follows within a second of an answer is taken to follow from it, and these users are only for the picture.
  await page.waitForTimeout(1_500);
  await account.ask('DELETE', '/_armilla/requests');
  // A query that the key of the container does not serve, so that there is something to say.
  for (let n = 0; n < 60; n += 1) {
    await account.query('blog-v2', 'posts', `SELECT * FROM c WHERE c.userId = '${users[n % users.length]}' AND c.type = 'post'`);
  }
  await open(page, '#/db/blog-v2/c/posts/advice');
  await page.getByRole('button', { name: 'Look', exact: true }).click();
  await expect(page.locator('.advice-finding').first()).toBeVisible({ timeout: 60_000 });
  await picture(page, 'advice', { height: 1_130 });
});

test('signing in', async ({ page }) => {
  const own = await startServer(['--key', KEY]);
  const shown = process.env['EXPLORER_PAGE'] === 'dist' ? await servePage(own) : own;
  try {
    await page.goto(`${shown.url}/_explorer/`);
    await expect(page.getByLabel('Key of the account or resource token')).toBeVisible();
    await picture(page, 'sign-in', { height: 620 });
  } finally {
    await shown.stop();
  }
});

const GRAPH = graph();

/** Ten people and places, as one script. */
function graph(): string {
  const people = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Fay', 'Gus'];
  const places = ['Bern', 'Lyon', 'Oslo'];
  const add = (label: string, name: string) => {
    const id = name.toLowerCase();
    return `addV('${label}').property('id', '${id}').property('pk', '${id}').property('name', '${name}').as('${id}')`;
  };
  const edges = [
    ...people.map((name, n) => [name, 'lives in', places[n % places.length]]),
    ['Ada', 'knows', 'Ben'],
    ['Cleo', 'knows', 'Dora'],
    ['Gus', 'was born in', 'Oslo'],
  ].map(([from, label, to]) => `addE('${label}').from('${from?.toLowerCase()}').to('${to?.toLowerCase()}')`);
  const vertices = [...people.map((name) => add('person', name)), ...places.map((name) => add('city', name))];
  return `g.${[...vertices, ...edges].join('\n .')}`;
}
