import { didYouMean } from './arguments/suggest.ts';
import { type Failure, failure } from './failure.ts';
import type { Kinds, Session } from './session.ts';

/** So many names are listed. */
const LISTED = 10;

/** The object of this name. @throws Failure that lists those that there are */
export async function need<K extends keyof Kinds>(
  session: Session,
  kind: K,
  name: string,
): Promise<Kinds[K]> {
  return (await session.get(kind, name)) ?? (await Promise.reject(await missing(session, kind, name)));
}

/** That there is no such object, and which there are. Fails otherwise when its kind is not installed. */
async function missing(session: Session, kind: keyof Kinds, name: string): Promise<Failure> {
  const { namespace } = session.where;
  const names = (await session.list(kind)).map(({ metadata }) => metadata.name).toSorted();
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : '';
  return failure(
    `there is no ${kind} ${name} in namespace ${namespace}`,
    ...didYouMean(name, names),
    names.length === 0
      ? `There is none at all in that namespace. Look in all with: kubectl etcd fleet -A`
      : `There are: ${names.slice(0, LISTED).join(', ')}${more}`,
  );
}
