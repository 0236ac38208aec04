/**
 * From which image a member goes on with a version. The way back takes exactly the one that ran: the specification may name another
 * repository by then, with the very fault that the way back is for. Pure.
 */
import { etcdImage } from '../../../api/defaults/etcd-cluster.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';

/** The image that the specification names for a version. */
function imageAsked({ cluster }: Situation, version: string): string {
  return etcdImage(cluster.config.repository, version);
}

/**
 * The image from which the member, or another one, ran this version before; undefined when that is not known, or when the specification
 * names the same.
 */
function formerImage(situation: Situation, member: string, version: string): string | undefined {
  const { pods, claims } = situation;
  const own = [...pods, ...claims].filter(({ owned, name }) => owned && name === member);
  const others = pods.filter(pod => pod.owned && pod.ready && pod.name !== member);
  const known = [...own.map(object => object.formerImage), ...others.map(({ image }) => image)];
  const found = known.find(image => image?.endsWith(`:v${version}`) === true);
  return found === imageAsked(situation, version) ? undefined : found;
}

/** As a field of a step. */
export function fromFormerImage(
  situation: Situation,
  member: string,
  version: string,
): { readonly image?: string } {
  const image = formerImage(situation, member, version);
  return image === undefined ? {} : { image };
}

/** From which image a member that failed is to run the version that it has; undefined when it does, or when it is not known. */
export function correctedImage(
  situation: Situation,
  { name, version = '', image }: PodFacts,
  from: string,
): string | undefined {
  const asked = imageAsked(situation, version);
  const wanted = version === from ? (formerImage(situation, name, version) ?? asked) : asked;
  return image === undefined || image === wanted ? undefined : wanted;
}
