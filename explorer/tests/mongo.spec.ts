//! Questions in the language of MongoDB.

import { Long } from 'bson';

import { test } from './support/apis';
import { expect, expectAccessible, shoot } from './support/fixture';
import { write } from './support/write';

const HOSTILE = '<img src=x onerror=alert(1)>';

test('documents are found part by part, with their types and their price', async ({ page, account, apis }) => {
  const database = account.name();
  const documents = Array.from({ length: 25 }, (_, n) => ({
    _id: `p${String(n).padStart(2, '0')}`,
    name: n === 0 ? HOSTILE : `Person ${n}`,
    [HOSTILE]: n,
    big: Long.fromString('9007199254740993'),
    born: new Date(Date.UTC(1990, 0, 1 + n)),
    tags: ['a', { b: n }],
  }));
  await apis.mongo(database, { insert: 'people', documents });
  await page.goto(account.url(`#/db/${database}/c/people/mongo`));
  await expect(page.getByRole('link', { name: 'MongoDB', exact: true })).toHaveAttribute('aria-current', 'page');

  await write(page, 'Filter', '{ "big": { "$numberLong": "9007199254740993" }, "_id": { "$gte": "p00" } }');
  await write(page, 'Projection', '{ "tags": 0 }');
  await write(page, 'Sort', '{ "born": 1 }');
  await page.getByLabel('Documents of a batch').selectOption('10');
  await page.keyboard.press('ControlOrMeta+Enter');
  const status = page.getByRole('status').filter({ hasText: 'RU' });
  await expect(status).toContainText('10 documents');
  await expect(status).toContainText(/[1-9]\d*\.\d\d RU/);
  const grid = page.getByRole('grid', { name: 'Documents' });
  await expect(grid.getByRole('columnheader', { name: HOSTILE })).toBeVisible();
  await expect(grid.getByRole('row').nth(1)).toContainText('9007199254740993');
  await expect(grid.getByRole('row').nth(1)).toContainText('1990-01-01T00:00:00Z');
  await page.getByRole('button', { name: 'Next batch' }).click();
  await expect(status).toContainText('20 documents');
  await page.getByRole('button', { name: 'Next batch' }).click();
  await expect(status).toContainText('25 documents');
  await expect(status).toContainText('3 batches');
  await expect(page.getByRole('button', { name: 'Next batch' })).toBeHidden();

  await grid.getByRole('row').nth(1).click();
  const one = page.locator('.cm-content[aria-label="The chosen document"]');
  await expect(one).toContainText('"$numberLong": "9007199254740993"');
  await expect(one).not.toContainText('tags');
  await expectAccessible(page);
  await shoot(page, 'mongo');
});

test('pipelines, plans, and what is refused', async ({ page, account, apis }) => {
  const database = account.name();
  const documents = Array.from({ length: 12 }, (_, n) => ({ _id: n, kind: n % 3, n }));
  await apis.mongo(database, { insert: 'things', documents });
  await page.goto(account.url(`#/db/${database}/c/things/mongo`));
  await page.getByLabel('What is asked').selectOption('aggregate');
  await write(page, 'Pipeline', '[{ "$group": { "_id": "$kind", "sum": { "$sum": "$n" } } }, { "$sort": { "_id": 1 } }]');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'RU' })).toContainText('3 documents');
  await page.getByRole('tab', { name: 'JSON' }).click();
  await expect(page.locator('.cm-content[aria-label="Rows as JSON"]')).toContainText('"sum": 18');

  await page.getByRole('button', { name: 'Explain' }).click();
  await expect(page.getByRole('list', { name: 'Steps' })).toContainText('COLLSCAN');
  await expect(page.getByText('No index was used')).toBeVisible();
  await expect(page.getByLabel('Plan').getByText(/^\d+\.\d\d\s*RU$/)).toBeVisible();
  await expectAccessible(page);
  await shoot(page, 'mongo-plan');

  await write(page, 'Pipeline', '[{ "$bogus": 1 }]');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByRole('alert')).toContainText("Unrecognized pipeline stage name: '$bogus'");
  await expect(page.getByRole('alert')).toContainText('40324');
  await write(page, 'Pipeline', '[{');
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByRole('alert')).toContainText(/^Pipeline: /);
  // What was typed is there again.
  await page.reload();
  await expect(page.locator('.cm-content[aria-label="Pipeline"]')).toContainText('[{');
});
